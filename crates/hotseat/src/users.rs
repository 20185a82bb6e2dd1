//! `hotseat users`: who works with this server.
//!
//! It works on the store itself, so no server has to run; one that does knows at once.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use hotseat_core::Role;
use hotseat_server::Desk;
use jiff::SignedDuration;
use serde_json::Value;
use uuid::Uuid;

use crate::args::StoreArgs;
use crate::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Users {
    #[command(flatten)]
    store: StoreArgs,
    /// As JSON, like the API.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Add a user. A name is given once.
    Add {
        name: String,
        /// `viewer` reads; `developer` also runs agents and answers; `admin` does everything.
        #[arg(long)]
        role: Role,
    },
    /// List users.
    List,
    /// Give a user another role.
    Role { name: String, role: Role },
    /// Revoke a user with all their tokens, at once and for good.
    Revoke { name: String },
    /// Make a token for a user, and print it: it is not kept, and not shown again.
    Token {
        name: String,
        /// What it is for, as in `laptop`.
        #[arg(long)]
        label: Option<String>,
        /// When it ends, as in `30d` or `12h` [default: never].
        #[arg(long, value_name = "TIME", value_parser = span)]
        expires: Option<SignedDuration>,
    },
    /// List the tokens of a user, without the tokens.
    Tokens { name: String },
    /// Revoke one token, at once and for good.
    RevokeToken { id: Uuid },
}

pub(crate) fn run(users: Users) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let told = runtime.block_on(async {
        let desk = Desk::open(&users.store.address()?).await?;
        carry_out(&desk, users.what).await
    })?;
    match told {
        Told::One(user) if users.json => output::line(&user.to_string())?,
        Told::One(user) => output::line(&row(&user))?,
        Told::List(list) if users.json => output::line(&list.to_string())?,
        Told::List(list) => {
            for item in list["items"].as_array().into_iter().flatten() {
                output::line(&row(item))?;
            }
        }
        Told::Secret(token) if users.json => output::line(&token.to_string())?,
        Told::Secret(token) => output::line(token["token"].as_str().context("no token")?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// What there is to print.
enum Told {
    One(Value),
    List(Value),
    /// A token: the one thing that a script wants.
    Secret(Value),
}

async fn carry_out(desk: &Desk, what: What) -> Result<Told> {
    Ok(match what {
        What::Add { name, role } => Told::One(desk.add_user(&name, role).await?),
        What::List => Told::List(desk.users().await?),
        What::Role { name, role } => Told::One(desk.set_role(&name, role).await?),
        What::Revoke { name } => Told::One(desk.revoke_user(&name).await?),
        What::Token { name, label, expires } => {
            Told::Secret(desk.add_token(&name, label, expires).await?)
        }
        What::Tokens { name } => Told::List(desk.tokens(&name).await?),
        What::RevokeToken { id } => Told::One(desk.revoke_token(id).await?),
    })
}

/// A user or a token in one line.
fn row(item: &Value) -> String {
    let text = |name: &str| item[name].as_str().unwrap_or("-");
    let end = match (&item["revoked_at"], &item["expires_at"]) {
        (Value::String(at), _) => format!("revoked {at}"),
        (_, Value::String(at)) => format!("until {at}"),
        _ => "valid".to_owned(),
    };
    if item.get("prefix").is_some() {
        let (id, prefix, label) = (text("id"), text("prefix"), text("label"));
        return format!("{id}  {prefix}…  {:24}  {end}  {label}", text("last_used_at"));
    }
    format!("{:24}  {:9}  {}  {end}", text("name"), text("role"), text("created_at"))
}

/// A time as in `30d`: a number and `m`, `h` or `d`.
fn span(text: &str) -> Result<SignedDuration> {
    let unit = text.chars().last().unwrap_or_default();
    let minutes = match unit {
        'm' => 1,
        'h' => 60,
        'd' => 24 * 60,
        _ => bail!("write a number and a unit, as in 90m, 12h or 30d"),
    };
    let number: i64 = text.trim_end_matches(unit).parse().context("the number cannot be read")?;
    let span = number.checked_mul(minutes * 60).filter(|seconds| *seconds > 0);
    span.map(SignedDuration::from_secs).context("the time must be above 0 and not for ever")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_number_and_a_unit() {
        for (text, seconds) in [("90m", 5_400), ("12h", 43_200), ("30d", 2_592_000)] {
            assert_eq!(span(text).unwrap(), SignedDuration::from_secs(seconds));
        }
        for text in ["", "d", "0d", "-1h", "3", "1w", "9223372036854775807d"] {
            assert!(span(text).is_err(), "{text}");
        }
    }
}
