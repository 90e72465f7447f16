//! Asks a language model for help, through any server that speaks the chat completions of OpenAI.
//!
//! Nothing is sent unless `llm.url` is set. `endpoint` checks the address, `messages` marks texts
//! of the repository as data, `chat` sends one request and `model_answer` reads its answer. `spending` keeps the tokens of each day.
//! A task of `tasks` turns texts into a prompt, and an answer into a checked proposal. The words of a model are not trusted: they
//! are shown or searched for, and never change anything.

mod chat;
mod endpoint;
mod messages;
mod model_answer;
mod spending;
pub mod tasks;

pub use chat::{ChatAnswer, ChatClient, ChatFailure};
pub use endpoint::{Endpoint, NoEndpoint};
pub use messages::{Prompt, Purpose};
pub use spending::{Day, SpendingError, SpendingFile};
