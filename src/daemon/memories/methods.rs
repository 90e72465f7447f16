//! Dispatches the methods about memories, and runs each in a transaction.

pub(super) mod change_stamp;
pub(in crate::daemon) mod memory_methods;
pub(super) mod memory_rules;
pub(in crate::daemon) mod method_call;
pub(in crate::daemon) mod protocol_values;
