//! Answers `GET /v1/events` with a stream of server-sent events.
//!
//! The format is that of the HTML standard, section 9.2 (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), which
//! browsers read with `EventSource`.
//!
//! A peer that does not read is treated as on the socket: hyper buffers 64 KiB; after that, newer states replace older ones,
//! changes of memories are counted as lost, and the time limit for unread data ends the connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as HttpBody, Frame};
use hyper::{Response, StatusCode};
use memod_engine::events::subscriptions::{EventMessage, Subscription};
use memod_proto::{SubscribeParams, Topic};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::timeout;

use super::http_site::HttpSite;
use super::response::{Body, HttpFailure, body_response};
use crate::daemon::request::request_context::{RequestContext, RequestOrigin};
use crate::daemon::subscribing;

/// Time without an event after which a comment is sent, which shows whether the peer is gone. The standard suggests 15 s.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// Name of the event that says how many events were dropped.
const LOST: &str = "lost";
/// First line of a stream: the time that `EventSource` waits before it connects again, ms.
const FIRST_LINE: &str = "retry: 2000\n\n";

/// Answers `GET /v1/events`: begins a stream, which ends when the peer is gone or the site is stopped.
pub(super) async fn answer_events(
    site: &HttpSite,
    query: Option<&str>,
) -> Result<Response<Body>, HttpFailure> {
    let params = parse_event_params(query, &site.root)?;
    let place = Arc::clone(&site.stream_permits).try_acquire_owned();
    let place = place.map_err(|_| HttpFailure::busy_failure("too many streams of events are open"))?;
    let in_work = site.in_work.try_acquire();
    let in_work = in_work
        .map_err(|_| HttpFailure::busy_failure("too many requests are in progress on all connections"))?;
    site.shared.engine.record_use();
    let request = RequestContext::new(&site.shared, RequestOrigin::Other);
    let subscription = subscribing::open_subscription(&request, params).await?;
    drop(in_work);
    let (send, frames) = mpsc::channel(1);
    tokio::spawn(send_events(subscription, send, site.stopping.clone(), place));
    Ok(body_response(StatusCode::OK, "text/event-stream", EventBody(frames).boxed()))
}

/// Parses `topics=a,b`, which may occur several times, and `cwd`, whose default is `root`.
fn parse_event_params(query: Option<&str>, root: &str) -> Result<SubscribeParams, HttpFailure> {
    let (mut topics, mut cwd) = (Vec::new(), root.to_owned());
    for (name, text) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        match &*name {
            "topics" => {}
            "cwd" => {
                if !text.is_empty() {
                    cwd = text.into_owned();
                }
                continue;
            }
            _ => {
                return Err(usage_failure(format!(
                    "{name}: unknown parameter of the query; use topics or cwd"
                )));
            }
        }
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let topic = Topic::ALL.into_iter().find(|topic| topic.as_str() == name);
            topics.push(topic.ok_or_else(|| {
                let all = Topic::ALL.map(Topic::as_str).join(", ");
                usage_failure(format!("topics: {name} is none of {all}"))
            })?);
        }
    }
    Ok(SubscribeParams { cwd, topics })
}

fn usage_failure(message: String) -> HttpFailure {
    HttpFailure::new(StatusCode::BAD_REQUEST, "usage", message)
}

/// Sends events, each once the peer has taken the ones before, until the peer is gone or `stop` is set.
async fn send_events(
    mut subscription: Subscription,
    frames: mpsc::Sender<Bytes>,
    mut stop: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let sending = async {
        let _ = frames.send(Bytes::from_static(FIRST_LINE.as_bytes())).await; // the peer may be gone
        // Room is reserved before the event is taken, because newer events may replace it until then.
        while let Ok(room) = frames.reserve().await {
            let Some(bytes) = next_frame(&mut subscription).await else { return };
            room.send(bytes);
        }
    };
    tokio::select! {
        () = sending => {}
        () = frames.closed() => {}
        _ = stop.wait_for(|stop| *stop) => {}
    }
}

/// Returns the bytes of the next event, or of a comment if no event comes for a while; `None` once the subscription has ended.
async fn next_frame(subscription: &mut Subscription) -> Option<Bytes> {
    match timeout(HEARTBEAT, subscription.next()).await {
        Ok(event) => event.map(|event| frame_of(&event)),
        Err(_) => Some(Bytes::from_static(b":\n\n")),
    }
}

/// Returns the bytes of an event. Its JSON is a single line, because JSON escapes line breaks in texts and needs none elsewhere.
fn frame_of(event: &EventMessage) -> Bytes {
    let name = event.topic.map_or(LOST, Topic::as_str);
    format!("event: {name}\ndata: {}\n\n", event.json).into()
}

/// The body of a stream. The stream ends when the body is dropped.
struct EventBody(mpsc::Receiver<Bytes>);

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hyper::body::Body as _;

    use super::*;
    use memod_base::types::MemoryChange;
    use memod_engine::events::subscriptions::{EventBroker, TopicSet};

    /// More than wait for one subscriber.
    const MANY: usize = 300;

    /// Returns the next part of a body as text.
    async fn part(body: &mut EventBody) -> Option<String> {
        let frame = body.frame().await?.expect("no part fails");
        Some(String::from_utf8(frame.into_data().expect("data").to_vec()).expect("text"))
    }

    #[tokio::test]
    async fn who_does_not_read_gets_the_last_state_and_how_much_was_lost() {
        let events = Arc::<EventBroker>::default();
        let subscription = events.subscribe(TopicSet::from_topics(&[]), Path::new("/r"));
        let (places, (stop, stopped)) = (Arc::new(tokio::sync::Semaphore::new(1)), watch::channel(false));
        let place = Arc::clone(&places).try_acquire_owned().expect("a place");
        let (send, frames) = mpsc::channel(1);
        let filling = tokio::spawn(send_events(subscription, send, stopped, place));
        let mut body = EventBody(frames);
        assert_eq!(part(&mut body).await.as_deref(), Some(FIRST_LINE));
        for number in 0..MANY {
            events.publish_memory_changes(vec![MemoryChange {
                action: "add".to_owned(),
                ids: vec![number.to_string()],
            }]);
        }
        (0..=3).for_each(|drifted| events.publish_drift(Path::new("/r"), drifted, 0));
        let mut parts = Vec::new();
        while !parts.last().is_some_and(|part: &String| part.contains("\"drifted\":3")) {
            parts.push(part(&mut body).await.expect("it goes on"));
        }
        let of = |topic: &str| {
            let name = format!("event: {topic}\ndata: {{\"topic\":\"{topic}\",");
            parts.iter().filter(|part| part.starts_with(&name) && part.ends_with("}\n\n")).count()
        };
        assert_eq!((of("lost"), of("drift")), (1, 1), "{parts:?}");
        assert!(of("memories") < MANY && parts.len() == of("memories") + 2, "{}", parts.len());
        assert_eq!(places.available_permits(), 0);
        assert!(!body.is_end_stream());
        stop.send(true).expect("somebody waits for it");
        assert_eq!(part(&mut body).await, None);
        filling.await.expect("it does not panic");
        assert!(
            !events.has_subscriber(TopicSet::from_topics(&[])) && places.available_permits() == 1,
            "all is given back"
        );
    }

    #[test]
    fn topics_of_a_query() {
        let topics = |query| {
            parse_event_params(query, "/r").map(|params| params.topics).map_err(|failure| failure.status)
        };
        assert_eq!(topics(None), Ok(Vec::new()));
        assert_eq!(
            topics(Some("topics=views,drift&topics=memories")),
            Ok(vec![Topic::Views, Topic::Drift, Topic::Memories])
        );
        assert_eq!(topics(Some("topics=all")), Err(StatusCode::BAD_REQUEST));
        assert_eq!(topics(Some("topic=views")), Err(StatusCode::BAD_REQUEST));
    }
}
