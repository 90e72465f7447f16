//! Answers `GET /v1/events` with a stream of server-sent events.
//!
//! The format is that of the HTML standard, section 9.2 (<https://html.spec.whatwg.org/multipage/server-sent-events.html>): the
//! name of an event is its topic, or `lost`, and its data one line of JSON.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use hyper::{Response, StatusCode};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::timeout;

use super::response::{Body, Failure, of_body};
use super::site::Site;
use crate::daemon::subscribing;
use crate::daemon::subscriptions::{EventMessage, Subscription};
use crate::proto::{SubscribeParams, Topic};

/// Most streams of one address, fewer than its connections, so that requests find room.
pub(super) const MOST_STREAMS: usize = 32;
/// Silence after which a comment is sent: a peer that is gone is noticed only when something is written.
const SILENCE: Duration = Duration::from_secs(15);
/// What is sent first, so that the peer knows that the stream is open.
const OPEN: &str = ": open\n\n";
/// What is sent in silence.
const ALIVE: &str = ":\n\n";

/// Begins a stream of the topics that the query names, or of all.
pub(super) async fn answer(site: &Site, query: Option<&str>) -> Result<Response<Body>, Failure> {
    let params = SubscribeParams { cwd: site.root.clone(), ..params(query)? };
    let place = site.streams.clone().try_acquire_owned();
    let place = place.map_err(|_| Failure::busy(format!("{MOST_STREAMS} streams of events are open")))?;
    let subscription = subscribing::listen(&site.shared, params).await?;
    let (sender, body) = Channel::new(1);
    tokio::spawn(send(subscription, sender, site.stopping.clone(), place));
    Ok(of_body(StatusCode::OK, "text/event-stream", body.boxed()))
}

/// Reads `topics=a,b`, which may be given several times.
fn params(query: Option<&str>) -> Result<SubscribeParams, Failure> {
    let bad = |message: String| Failure::new(StatusCode::BAD_REQUEST, "usage", message);
    let mut topics = Vec::new();
    for (name, text) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if name != "topics" {
            return Err(bad(format!("{name}: not known in the query; topics is")));
        }
        for name in text.split(',').filter(|name| !name.is_empty()) {
            let topic = Topic::ALL.into_iter().find(|topic| topic.as_str() == name);
            topics.push(topic.ok_or_else(|| {
                let all = Topic::ALL.map(Topic::as_str).join(", ");
                bad(format!("topics: {name} is none of {all}"))
            })?);
        }
    }
    Ok(SubscribeParams { topics, ..SubscribeParams::default() })
}

/// Sends events until the peer is gone, or nothing is served any more. While the peer takes nothing, they wait in the
/// subscription, by its rules; the connection ends when it has waited too long to write.
async fn send(
    mut subscription: Subscription,
    mut sender: Sender<Bytes>,
    mut stopping: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
) {
    let mut text = Bytes::from_static(OPEN.as_bytes());
    loop {
        let stopped = || async { drop(stopping.clone().wait_for(|stop| *stop).await) };
        tokio::select! {
            sent = sender.send_data(text) => if sent.is_err() { return },
            () = stopped() => return,
        }
        let next = timeout(SILENCE, subscription.next());
        text = tokio::select! {
            next = next => match next {
                Ok(Some(event)) => of_event(&event).into(),
                Ok(None) => return,
                Err(_) => Bytes::from_static(ALIVE.as_bytes()),
            },
            _ = stopping.wait_for(|stop| *stop) => return,
        };
    }
}

fn of_event(EventMessage { topic, json }: &EventMessage) -> String {
    format!("event: {}\ndata: {json}\n\n", topic.map_or("lost", Topic::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_of_a_query() {
        let topics = |query| params(query).map(|params| params.topics).map_err(|failure| failure.status);
        assert_eq!(topics(None), Ok(Vec::new()));
        assert_eq!(
            topics(Some("topics=views,drift&topics=memories")),
            Ok(vec![Topic::Views, Topic::Drift, Topic::Memories])
        );
        assert_eq!(topics(Some("topics=all")), Err(StatusCode::BAD_REQUEST));
        assert_eq!(topics(Some("topic=views")), Err(StatusCode::BAD_REQUEST));
    }
}
