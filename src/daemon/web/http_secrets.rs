//! Creates the secrets with which requests prove their access, compares them, and counts wrong ones.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use memod_base::threads::lock;
use subtle::ConstantTimeEq;

/// Length of a secret, bytes: 256 bits, so that no number of guesses finds one.
const N_BYTES: usize = 32;
/// Number of wrong secrets within [`WINDOW`] that are reported as wrong; further ones are only refused.
const MAX_WRONG: u32 = 10;
const WINDOW: Duration = Duration::from_secs(60);
/// Time for which a one-time token is valid: a browser may take that long to start.
const ONE_TIME_TOKEN_LIFETIME: Duration = Duration::from_secs(60);

/// The token in the address of the page, and the secret in the cookie of a session. They differ, so that a program that sees a
/// cookie cannot open sessions. The type implements no `Debug`, so that secrets are not printed by accident.
pub(super) struct HttpSecrets {
    token: String,
    session: String,
    /// A token that opens a single session, and when it expires. A browser is started with this token, because other users can see
    /// the arguments of a process.
    one_time_token: Mutex<Option<(String, Instant)>>,
}

impl HttpSecrets {
    /// Creates secrets from random bytes of the system.
    ///
    /// # Errors
    /// When the system provides no random bytes.
    pub(super) fn random() -> Result<Self, String> {
        Ok(Self { token: random_secret()?, session: random_secret()?, one_time_token: Mutex::default() })
    }

    /// Returns the token in the address of the page.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// Returns the secret in the cookie of a session.
    pub(super) fn session(&self) -> &str {
        &self.session
    }

    /// Returns whether a text is the token.
    pub(super) fn is_token(&self, given: &str) -> bool {
        is_same(&self.token, given)
    }

    /// Creates a token that opens a single session, and replaces the former one.
    ///
    /// # Errors
    /// When the system provides no random bytes. The former token stays valid then.
    pub(super) fn create_one_time_token(&self, now: Instant) -> Result<String, String> {
        let token = random_secret()?;
        *lock(&self.one_time_token) = Some((token.clone(), now + ONE_TIME_TOKEN_LIFETIME));
        Ok(token)
    }

    /// Returns whether a session may be opened with a token. A token that opens a single session is used up by this.
    pub(super) fn accept_session_token(&self, given: &str, now: Instant) -> bool {
        let mut once = lock(&self.one_time_token);
        let is_once = once.as_ref().is_some_and(|(token, until)| is_same(token, given) && now < *until);
        if is_once {
            *once = None;
        }
        is_once || self.is_token(given)
    }

    /// Returns whether a text is the secret of a session.
    pub(super) fn is_session(&self, given: &str) -> bool {
        is_same(&self.session, given)
    }
}

fn random_secret() -> Result<String, String> {
    let mut bytes = [0; N_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system provides no random bytes: {error}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// Compares two texts of one length in constant time, so that the time does not show how much of a guess is right.
fn is_same(secret: &str, given: &str) -> bool {
    secret.as_bytes().ct_eq(given.as_bytes()).into()
}

/// Counts the wrong secrets within each [`WINDOW`].
///
/// The right secret is always accepted, so nobody can lock out the owner by guessing.
#[derive(Default)]
pub(super) struct WrongGuesses {
    since: Option<Instant>,
    n_wrong: u32,
}

impl WrongGuesses {
    /// Counts a wrong secret; if there were too many, returns the time after which the next one is reported as wrong again.
    pub(super) fn note_wrong(&mut self, now: Instant) -> Option<Duration> {
        let since = *self.since.get_or_insert(now);
        if now.duration_since(since) >= WINDOW {
            *self = Self { since: Some(now), n_wrong: 0 };
        }
        self.n_wrong = self.n_wrong.saturating_add(1);
        let until = self.since.unwrap_or(now) + WINDOW;
        (self.n_wrong > MAX_WRONG).then(|| until.saturating_duration_since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_compared_whole() {
        let secrets = HttpSecrets::random().expect("random bytes");
        let token = secrets.token().to_owned();
        assert!(token.len() * 6 >= 128 && secrets.is_token(&token));
        assert_ne!(token, secrets.session());
        for wrong in ["", &token[1..], &format!("{token}="), &token.to_lowercase(), secrets.session()] {
            assert!(!secrets.is_token(wrong), "{wrong}");
        }
        assert!(secrets.is_session(secrets.session()) && !secrets.is_session(&token));
        assert_ne!(HttpSecrets::random().expect("random bytes").token(), token);
    }

    #[test]
    fn a_browser_is_let_in_once() {
        let (secrets, now) = (HttpSecrets::random().expect("random bytes"), Instant::now());
        assert!(secrets.accept_session_token(secrets.token(), now));
        let offer = || secrets.create_one_time_token(now).expect("random bytes");
        let (former, once) = (offer(), offer());
        assert!(
            !secrets.is_token(&once) && !secrets.is_session(&once),
            "it opens a session and nothing else"
        );
        let opens = |token: &str| secrets.accept_session_token(token, now);
        assert_eq!((opens(&former), opens(&once), opens(&once)), (false, true, false));
        let late = offer();
        assert!(!secrets.accept_session_token(&late, now + ONE_TIME_TOKEN_LIFETIME));
    }

    #[test]
    fn guesses_are_counted_for_a_minute() {
        let (start, mut guesses) = (Instant::now(), WrongGuesses::default());
        let at = |seconds| start + Duration::from_secs(seconds);
        for _ in 0..MAX_WRONG {
            assert_eq!(guesses.note_wrong(at(10)), None);
        }
        assert_eq!(guesses.note_wrong(at(30)), Some(Duration::from_secs(40)));
        assert_eq!(guesses.note_wrong(at(70)), None, "another minute has begun");
    }
}
