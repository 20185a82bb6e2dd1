//! `hotseat doctor`: what this machine has, and how to mend what it lacks.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Result;
use hotseat_store::{Address, Limits, Store};

use crate::args::Web;
use crate::output;
use crate::settings::Settings;
use crate::worker::find_python;

/// What a check found: all right, or what to do.
type Finding = std::result::Result<String, String>;

pub(crate) fn run(web: Web) -> Result<ExitCode> {
    let settings = Settings::of_web(web)?;
    let python = find_python(settings.python.clone());
    let findings = [
        ("Python", python_version(&python)),
        (
            "google-adk",
            python_package(
                &python,
                "google.adk",
                "google.adk.version",
                "pip install 'google-adk>=1.22,<3'",
            ),
        ),
        (
            "hotseat package",
            python_package(
                &python,
                "hotseat",
                "hotseat",
                "pip install hotseat, or `make build` in a checkout",
            ),
        ),
        ("port", port(&settings)),
        ("data folder", data_folder(&settings.data)),
        ("store", store(&settings.store)),
    ];
    let mut sound = true;
    for (name, finding) in &findings {
        sound &= finding.is_ok();
        output::line(&match finding {
            Ok(fact) => format!("ok    {name}: {fact}"),
            Err(problem) => format!("fail  {name}: {problem}"),
        })?;
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn python_version(python: &Path) -> Finding {
    let text = ask_python(python, "import platform; print(platform.python_version())")?;
    let numbers: Vec<u32> = text.split('.').filter_map(|part| part.parse().ok()).collect();
    if numbers.as_slice() < [3, 11].as_slice() {
        return Err(format!(
            "{text} at {}; 3.11 or newer is needed: choose one with --python",
            python.display()
        ));
    }
    Ok(format!("{text} at {}", python.display()))
}

fn python_package(python: &Path, module: &str, versioned: &str, remedy: &str) -> Finding {
    let code = format!(
        "import {module}, importlib; print(getattr(importlib.import_module('{versioned}'), '__version__', 'found'))"
    );
    ask_python(python, &code).map_err(|_| format!("`import {module}` fails: {remedy}"))
}

fn ask_python(python: &Path, code: &str) -> Finding {
    let output = Command::new(python).args(["-c", code]).output().map_err(|error| {
        format!("could not start {}: {error}; choose a Python with --python", python.display())
    })?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(format!("{} failed", python.display()))
    }
}

fn port(settings: &Settings) -> Finding {
    let address = settings.address;
    match TcpListener::bind(address) {
        Ok(_) => Ok(format!("{address} is free")),
        Err(error) => Err(format!("{address}: {error}; choose another port with --port")),
    }
}

fn data_folder(folder: &Path) -> Finding {
    let place = folder.ancestors().find(|place| place.exists()).unwrap_or(folder);
    match tempfile::tempfile_in(place) {
        Ok(_) => Ok(format!("{} can be written", folder.display())),
        Err(error) => Err(format!("{}: {error}; choose another with --data", folder.display())),
    }
}

fn store(address: &Address) -> Finding {
    let place = match address {
        Address::Sqlite(file) if !file.exists() => {
            return Ok(format!("{} will be made", file.display()));
        }
        Address::Sqlite(file) => file.display().to_string(),
        Address::Postgres(_) => address.to_string(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    match runtime.block_on(Store::open(address, Limits::default())) {
        Ok(_) => Ok(format!("{place} opens")),
        Err(error) => Err(format!("{:#}", anyhow::Error::from(error))),
    }
}
