//! Asks a language model for help, through any server with the chat completions API of OpenAI.
//!
//! Nothing is sent unless `llm.url` is set. `endpoint` checks the address, `messages` marks texts of the repository as data, `chat`
//! sends a request, and `model_answer` parses the answer. `spending` counts the tokens of each day. Each module of `tasks` turns
//! texts into a prompt, and an answer into a checked proposal. The answers of a model are not trusted: memod shows them or
//! searches for them, and they never change anything.

mod chat;
mod endpoint;
mod messages;
mod model_answer;
mod spending;
pub mod tasks;

pub use chat::{ChatAnswer, ChatClient, ChatFailure};
pub use endpoint::{Endpoint, EndpointError};
pub use messages::{Prompt, RequestPurpose};
pub use spending::{DaySpending, SpendingError, SpendingFile};
