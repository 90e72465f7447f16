//! Notifies the main loop when a thread of a worktree panics.

use crate::engine::Engine;
use crate::messages::disk_task::{DiskReport, ThreadNumber};
use crate::messages::loop_event::LoopEvent;

/// Notifies the main loop when a thread of a worktree panics. Without this event the worktree would never be fresh again.
pub(super) struct PanicReporter<'a> {
    engine: &'a Engine,
    thread: ThreadNumber,
}

impl<'a> PanicReporter<'a> {
    pub(super) fn new(engine: &'a Engine, thread: ThreadNumber) -> Self {
        Self { engine, thread }
    }
}

impl Drop for PanicReporter<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.engine.send_event(LoopEvent::Disk { thread: self.thread, report: DiskReport::Panicked });
        }
    }
}
