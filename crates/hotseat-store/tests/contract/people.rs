//! Users and their tokens.

use hotseat_core::{Role, UserName};
use hotseat_store::{
    Act, AuditQuery, Bearer, MAX_TOKENS_PER_USER, NewToken, PeopleError, Store, Token,
};
use uuid::Uuid;

use crate::log::at;
use crate::suite;

suite!(
    a_user_is_found_by_name_and_listed_in_order,
    a_name_is_given_once,
    a_token_is_found_by_its_hash,
    a_token_ends_with_its_time_its_revocation_and_its_user,
    a_revoked_user_gets_no_token_and_no_role,
    revoking_again_changes_nothing_and_is_not_written_down,
    every_act_on_people_is_in_the_audit,
    a_refused_act_is_not_in_the_audit,
    tokens_that_are_over_make_room_and_valid_ones_do_not,
);

fn name(text: &str) -> UserName {
    text.parse().unwrap()
}

fn act(milliseconds: i64) -> Act {
    Act { actor: "root".to_owned(), at: at(milliseconds) }
}

fn new_token(user: &str, n: u8) -> NewToken {
    NewToken {
        user: name(user),
        hash: [n; 32],
        prefix: format!("hst_{n}"),
        label: "laptop".to_owned(),
        expires_at: None,
    }
}

async fn token(store: &Store, user: &str, n: u8) -> Token {
    store.add_token(new_token(user, n), act(1)).await.unwrap()
}

async fn bearer(store: &Store, n: u8) -> Bearer {
    store.bearer([n; 32]).await.unwrap().unwrap()
}

async fn actions(store: &Store) -> Vec<String> {
    let entries = store.audit_entries(AuditQuery::default()).await.unwrap();
    entries.into_iter().map(|entry| format!("{} {}", entry.action, entry.subject)).collect()
}

async fn a_user_is_found_by_name_and_listed_in_order(store: Store) {
    let bob = store.add_user(name("bob"), Role::Viewer, act(1)).await.unwrap();
    let ada = store.add_user(name("ada"), Role::Admin, act(2)).await.unwrap();
    assert_eq!(store.user(name("bob")).await.unwrap(), Some(bob.clone()));
    assert_eq!((bob.created_at, bob.revoked_at), (at(1), None));
    assert_eq!(store.user(name("eve")).await.unwrap(), None);
    assert_eq!(store.users().await.unwrap(), [ada, bob]);
    let promoted = store.set_role(name("bob"), Role::Developer, act(3)).await.unwrap();
    assert_eq!(store.user(name("bob")).await.unwrap(), Some(promoted.clone()));
    assert_eq!(promoted.role, Role::Developer);
}

async fn a_name_is_given_once(store: Store) {
    store.add_user(name("ada"), Role::Viewer, act(1)).await.unwrap();
    let again = store.add_user(name("ada"), Role::Admin, act(2)).await.unwrap_err();
    assert_eq!(again.to_string(), "there is a user `ada` already: a name is given once");
    store.revoke_user(name("ada"), act(3)).await.unwrap();
    let again = store.add_user(name("ada"), Role::Admin, act(4)).await.unwrap_err();
    assert!(matches!(again, PeopleError::NameTaken(_)));
    assert_eq!(store.user(name("ada")).await.unwrap().unwrap().role, Role::Viewer);
}

async fn a_token_is_found_by_its_hash(store: Store) {
    store.add_user(name("ada"), Role::Developer, act(0)).await.unwrap();
    let made = token(&store, "ada", 7).await;
    assert_eq!(store.bearer([8; 32]).await.unwrap(), None);
    let found = bearer(&store, 7).await;
    assert_eq!((&found.token, found.user.role), (&made, Role::Developer));
    assert!(found.is_valid(at(9_000_000)));
    assert_eq!(store.tokens(name("ada")).await.unwrap(), std::slice::from_ref(&made));
    assert!(store.tokens(name("eve")).await.unwrap().is_empty());
    store.token_used(made.id, at(5)).await.unwrap();
    assert_eq!(bearer(&store, 7).await.token.last_used_at, Some(at(5)));
}

async fn a_token_ends_with_its_time_its_revocation_and_its_user(store: Store) {
    store.add_user(name("ada"), Role::Developer, act(0)).await.unwrap();
    let ending = NewToken { expires_at: Some(at(10)), ..new_token("ada", 1) };
    store.add_token(ending, act(1)).await.unwrap();
    assert!(bearer(&store, 1).await.is_valid(at(9)));
    assert!(!bearer(&store, 1).await.is_valid(at(10)));

    let (one, _) = (token(&store, "ada", 2).await, token(&store, "ada", 3).await);
    store.revoke_token(one.id, act(4)).await.unwrap();
    assert!(!bearer(&store, 2).await.is_valid(at(5)));
    assert!(bearer(&store, 3).await.is_valid(at(5)), "the other one stays");

    store.revoke_user(name("ada"), act(6)).await.unwrap();
    let last = bearer(&store, 3).await;
    assert!(!last.is_valid(at(6)));
    assert_eq!((last.token.revoked_at, last.user.revoked_at), (Some(at(6)), Some(at(6))));
    assert_eq!(bearer(&store, 2).await.token.revoked_at, Some(at(4)), "as it was");
}

async fn a_revoked_user_gets_no_token_and_no_role(store: Store) {
    store.add_user(name("ada"), Role::Viewer, act(0)).await.unwrap();
    store.revoke_user(name("ada"), act(1)).await.unwrap();
    let refused = store.add_token(new_token("ada", 1), act(2)).await.unwrap_err();
    assert_eq!(refused.to_string(), "user `ada` was revoked: add one with another name");
    let refused = store.set_role(name("ada"), Role::Admin, act(2)).await.unwrap_err();
    assert!(matches!(refused, PeopleError::Revoked(_)));
    let refused = store.add_token(new_token("eve", 1), act(2)).await.unwrap_err();
    assert!(matches!(refused, PeopleError::NoUser(_)));
    let refused = store.revoke_user(name("eve"), act(2)).await.unwrap_err();
    assert!(matches!(refused, PeopleError::NoUser(_)));
    let refused = store.revoke_token(Uuid::nil(), act(2)).await.unwrap_err();
    assert!(matches!(refused, PeopleError::NoToken(_)));
}

async fn revoking_again_changes_nothing_and_is_not_written_down(store: Store) {
    store.add_user(name("ada"), Role::Viewer, act(0)).await.unwrap();
    let made = token(&store, "ada", 1).await;
    for milliseconds in [5, 6] {
        let revoked = store.revoke_token(made.id, act(milliseconds)).await.unwrap();
        assert_eq!(revoked.revoked_at, Some(at(5)));
    }
    for milliseconds in [7, 8] {
        let revoked = store.revoke_user(name("ada"), act(milliseconds)).await.unwrap();
        assert_eq!(revoked.revoked_at, Some(at(7)));
    }
    assert_eq!(
        actions(&store).await,
        ["user.added ada", "token.added ada", "token.revoked ada", "user.revoked ada"]
    );
}

async fn every_act_on_people_is_in_the_audit(store: Store) {
    store.add_user(name("ada"), Role::Viewer, act(1)).await.unwrap();
    store.set_role(name("ada"), Role::Viewer, act(2)).await.unwrap();
    store.set_role(name("ada"), Role::Admin, act(2)).await.unwrap();
    let made = token(&store, "ada", 1).await;
    let entries = store.audit_entries(AuditQuery::default()).await.unwrap();
    let told: Vec<_> =
        entries.iter().map(|entry| (entry.actor.as_str(), entry.at, &*entry.action)).collect();
    assert_eq!(
        told,
        [
            ("root", at(1), "user.added"),
            ("root", at(2), "user.role_changed"),
            ("root", at(1), "token.added")
        ]
    );
    assert_eq!(entries[1].detail, serde_json::json!({"role": "admin", "before": "viewer"}));
    assert_eq!(entries[2].detail["token"], made.id.to_string());
}

async fn a_refused_act_is_not_in_the_audit(store: Store) {
    store.add_user(name("ada"), Role::Viewer, act(1)).await.unwrap();
    store.add_user(name("ada"), Role::Viewer, act(1)).await.unwrap_err();
    store.add_token(new_token("eve", 1), act(1)).await.unwrap_err();
    token(&store, "ada", 1).await;
    // Two tokens never have one hash; were it so, the first stays alone.
    store.add_token(new_token("ada", 1), act(1)).await.unwrap_err();
    assert_eq!(actions(&store).await, ["user.added ada", "token.added ada"]);
}

async fn tokens_that_are_over_make_room_and_valid_ones_do_not(store: Store) {
    store.add_user(name("ada"), Role::Viewer, act(0)).await.unwrap();
    let mut made = Vec::new();
    for n in 0..MAX_TOKENS_PER_USER {
        made.push(token(&store, "ada", u8::try_from(n).unwrap()).await);
    }
    let refused = store.add_token(new_token("ada", 200), act(2)).await.unwrap_err();
    assert_eq!(refused.to_string(), "user `ada` has 100 valid tokens: revoke one first");
    store.revoke_token(made[3].id, act(3)).await.unwrap();
    token(&store, "ada", 200).await;
    let kept = store.tokens(name("ada")).await.unwrap();
    assert_eq!(kept.len(), MAX_TOKENS_PER_USER);
    assert!(kept.iter().all(|token| token.id != made[3].id));
}
