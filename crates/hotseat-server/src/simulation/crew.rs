//! Those a run needs: a user who asks for it, workers who carry it out, and servers that look
//! after each other.
//!
//! A worker does what the Python one does. It takes what it is given, finds out from the log how
//! far the run is, and leaves what another has. It may stall in the middle of a step, lose its
//! line and go on, and come back to any server. What each step wrote says which step it was and
//! who wrote it, so that a step done twice shows.

use std::rc::Rc;

use hotseat_core::{Kind, NewEvent, RunId, TurnId};
use hotseat_store::EventQuery;
use serde_json::json;

use super::cast::raw;
use super::world::{Trouble, WorkLine, World};
use crate::clock;
use crate::service::{
    Agent, App, Query, Registration, RunEnd, ServiceError, StartRun, SubmitTurn, ToWorker,
};

/// Runs that the user asks for.
const RUNS: usize = 2;

/// Steps of a run, each of which leaves one event.
pub(super) const STEPS: usize = 4;

/// The step that begins with a turn.
const ASKS: usize = 2;

/// How long a worker stands still at most, in milliseconds: longer than a server is waited for.
const STALLS: usize = 30_000;

/// How long a worker is without a line at most, in milliseconds.
const AWAY: usize = 12_000;

/// A user: sends a message, and the next when that was worked on.
pub(super) async fn user(world: Rc<World>) {
    for _ in 0..RUNS {
        loop {
            let text = Query::Text("go".to_owned());
            match world.call(async |app| app.query(world.session, text).await).await {
                // One whose answer was lost may be there.
                Ok(_) | Err(Trouble::Refused(ServiceError::RunInProgress { .. })) => break,
                Err(Trouble::Lost | Trouble::Refused(ServiceError::NoWorker(_))) => {
                    world.pause(2000).await;
                }
                Err(Trouble::Refused(error)) => panic!("a message was refused: {error}"),
            }
        }
        loop {
            world.pause(3000).await;
            match world.call(async |app| app.session(world.session).await).await {
                Ok(session) if session.run.is_none() => break,
                Ok(_) | Err(Trouble::Lost) => {}
                Err(Trouble::Refused(error)) => panic!("a session was refused: {error}"),
            }
        }
    }
}

/// A server's own part: it says that it is there, and looks what became of the others.
pub(super) async fn keeper(world: Rc<World>, server: usize) {
    loop {
        world.keep(server).await;
    }
}

/// What a worker has in its hands.
struct Hands {
    world: Rc<World>,
    name: &'static str,
    doing: Option<Doing>,
    /// Runs that it has ended, to be told again if they are given again.
    ended: Vec<RunId>,
}

/// A run in progress.
struct Doing {
    run: RunId,
    /// The next step, once it was found out from the log.
    next: Option<usize>,
    turn: Option<TurnId>,
    /// The id of the event of the step it is at: the same however often it has to be sent.
    event_id: Option<String>,
}

/// Why a worker lets go of a run.
enum Left {
    /// Another has it, or it is over.
    Gone,
    /// It is done with it.
    Done,
}

pub(super) async fn worker(world: Rc<World>, name: &'static str) {
    let mut hands = Hands { world, name, doing: None, ended: Vec::new() };
    loop {
        let line = match hands.world.attach(hands.registration()).await {
            Ok(line) => line,
            Err(Trouble::Lost) => {
                hands.world.pause(500).await;
                continue;
            }
            Err(Trouble::Refused(error)) => panic!("a worker was refused: {error}"),
        };
        hands.serve(line).await;
    }
}

impl Hands {
    fn registration(&self) -> Registration {
        let agent = Agent {
            name: "root".to_owned(),
            root_name: "root".to_owned(),
            app_name: "app".to_owned(),
            runtime: "adk".to_owned(),
            description: String::new(),
            instruction: String::new(),
            model: String::new(),
            tools: Vec::new(),
            input_schema: None,
            output_schema: None,
            eval_set_path: None,
            sub_agents: Vec::new(),
            seat: None,
            connected: true,
        };
        Registration {
            worker_id: self.name.to_owned(),
            agents: vec![agent],
            problems: Vec::new(),
            active_runs: self.doing.iter().map(|doing| doing.run.to_string()).collect(),
        }
    }

    /// Works for as long as the line holds, and sometimes for a while longer.
    async fn serve(&mut self, mut line: WorkLine) {
        let world = Rc::clone(&self.world);
        loop {
            if self.doing.is_none() {
                match world.told(&mut line).await {
                    Ok(message) => self.heard(&line, message).await,
                    Err(_) => return,
                }
            }
            while let Some(message) = world.told_already(&mut line) {
                self.heard(&line, message).await;
            }
            if world.is_lost(&line) {
                return;
            }
            match world.faults.get().then(|| world.pick(8)) {
                Some(0) => world.pause(STALLS).await,
                Some(1) => {
                    // The server notices at once that it is gone, or not before it is back.
                    let kept = world.once_in(2).then_some(line);
                    for _ in 0..world.pick(3) {
                        self.step(None).await;
                    }
                    world.pause(AWAY).await;
                    drop(kept);
                    return;
                }
                _ => self.step(Some(&line)).await,
            }
        }
    }

    async fn heard(&mut self, line: &WorkLine, message: ToWorker) {
        match message {
            ToWorker::StartRun(start) => {
                let StartRun { run_id, .. } = *start;
                if self.ended.contains(&run_id) {
                    self.tell_end(line, run_id, "finished").await;
                } else if self.doing.as_ref().is_none_or(|doing| doing.run != run_id) {
                    self.doing =
                        Some(Doing { run: run_id, next: None, turn: None, event_id: None });
                }
            }
            ToWorker::LeaveRun { run_id } => {
                self.doing.take_if(|doing| doing.run.to_string() == run_id);
            }
            // Nobody cancels here: only what is over is told as that, and the log knows its end.
            ToWorker::CancelRun { run_id } => {
                if let Some(doing) = self.doing.take_if(|doing| doing.run.to_string() == run_id) {
                    self.tell_end(line, doing.run, "cancelled").await;
                }
            }
            ToWorker::Ask { .. } => panic!("nobody asks a worker here"),
        }
    }

    /// Does the next thing of the run in its hands; the last is to tell its end over the line.
    async fn step(&mut self, line: Option<&WorkLine>) {
        let Some(doing) = &mut self.doing else { return };
        let done = match doing.next {
            None => doing.look(&self.world).await,
            Some(STEPS) => Err(Left::Done),
            Some(step) => doing.work(&self.world, self.name, step).await,
        };
        match (done, line) {
            (Ok(()), _) => {}
            (Err(Left::Gone), _) => self.doing = None,
            (Err(Left::Done), Some(line)) => {
                if let Some(Doing { run, .. }) = self.doing.take() {
                    self.ended.push(run);
                    self.tell_end(line, run, "finished").await;
                }
            }
            (Err(Left::Done), None) => self.world.pause(500).await,
        }
    }

    async fn tell_end(&self, line: &WorkLine, run: RunId, status: &str) {
        let end = RunEnd {
            session: self.world.session,
            run_id: run.to_string(),
            worker: self.name.to_owned(),
            status: status.to_owned(),
            error: None,
        };
        match self.world.over(line, async |app| app.end_run(end).await).await {
            Ok(()) | Err(Trouble::Lost) => {}
            Err(Trouble::Refused(error)) => panic!("the end of a run was refused: {error}"),
        }
    }
}

impl Doing {
    /// Finds out from the log how far the run is.
    async fn look(&mut self, world: &World) -> Result<(), Left> {
        let log = async |app: App| app.events(world.session, EventQuery::default()).await;
        let log = written(world.call(log).await, world).await?;
        let Some(log) = log else { return Ok(()) };
        let own = format!("{}/", self.run);
        let steps = log.iter().filter(|event| event.event_id.starts_with(&own)).count();
        let invocation = self.run.to_string();
        let asked = log.iter().find(|event| {
            event.kind == Kind::Request && event.invocation_id.as_deref() == Some(&invocation)
        });
        self.turn = asked.and_then(|event| event.turn_id);
        self.next = Some(steps);
        Ok(())
    }

    /// Does a step: what it takes, and then the event that it leaves.
    async fn work(&mut self, world: &World, name: &str, step: usize) -> Result<(), Left> {
        if step == ASKS && !self.answered(world, name).await? {
            return Ok(());
        }
        let id = self
            .event_id
            .get_or_insert_with(|| format!("{}/{step}/{name}/{}", self.run, world.id()));
        let event = NewEvent {
            event_id: id.clone(),
            timestamp: clock::now(),
            kind: Kind::Event,
            turn_id: None,
            invocation_id: Some(self.run.to_string()),
            author: "root".to_owned(),
            agent_name: "root".to_owned(),
            branch: None,
            parent_call_id: None,
            payload: raw(&json!({"author": "root"})),
        };
        let said = async |app: App| app.append_events(world.session, vec![event], Some(name)).await;
        let Some(appended) = written(world.call(said).await, world).await? else { return Ok(()) };
        if let Some(id) = self.event_id.take() {
            world.record.borrow_mut().events.push((id, appended.seqs[0]));
        }
        self.next = Some(step + 1);
        Ok(())
    }

    /// Asks, once, and says whether the answer is there.
    async fn answered(&mut self, world: &World, name: &str) -> Result<bool, Left> {
        let turn = *self.turn.get_or_insert_with(|| TurnId::new(world.id()));
        let wish = SubmitTurn {
            session: world.session,
            turn,
            agent_name: "root".to_owned(),
            invocation_id: Some(self.run.to_string()),
            branch: None,
            parent_call_id: None,
            payload: raw(
                &json!({"request": {"contents": [{"role": "user", "parts": [{"text": "?"}]}]}}),
            ),
            worker: Some(name.to_owned()),
        };
        let asked = world.call(async |app| app.submit_turn(wish).await).await;
        let Some(submitted) = written(asked, world).await? else { return Ok(false) };
        world.record.borrow_mut().requests.push((turn, submitted.seq));
        let answers = EventQuery { kinds: vec![Kind::Response], ..EventQuery::default() };
        let read = async |app: App| app.events(world.session, answers).await;
        let Some(found) = written(world.call(read).await, world).await? else { return Ok(false) };
        let answer = found.iter().find(|event| event.turn_id == Some(turn));
        if let Some(answer) = answer {
            world.record.borrow_mut().heard.push((turn, answer.seq));
        } else {
            world.pause(4000).await;
        }
        Ok(answer.is_some())
    }
}

/// What a call of a worker's brought; nothing if it is to be made again.
async fn written<T>(outcome: Result<T, Trouble>, world: &World) -> Result<Option<T>, Left> {
    match outcome {
        Ok(brought) => Ok(Some(brought)),
        Err(Trouble::Lost) => {
            world.pause(500).await;
            Ok(None)
        }
        Err(Trouble::Refused(ServiceError::RunElsewhere(_))) => Err(Left::Gone),
        Err(Trouble::Refused(error)) => panic!("what a worker wrote was refused: {error}"),
    }
}
