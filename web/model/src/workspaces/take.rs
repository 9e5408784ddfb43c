//! Each event, and its effects on what is kept.

use super::event::{WorkspaceEffect, WorkspaceEvent, WriteFacts, WriteTarget};
use super::state::{TextHome, TextOwner, WorkspaceState};

impl WorkspaceState {
    /// Takes an event, and tells what the page has to do now, in this order.
    pub fn take(&mut self, event: WorkspaceEvent) -> Vec<WorkspaceEffect> {
        let mut out = Vec::new();
        match event {
            WorkspaceEvent::Taken(id) => self.name(id, &mut out),
            WorkspaceEvent::Begun(id) => self.begin(id, &mut out),
            WorkspaceEvent::Opened { id, is_copy } => {
                self.name(id, &mut out);
                self.owner = TextOwner::This;
                self.is_copy = is_copy;
            }
            WorkspaceEvent::LaterFound { id, is_copy } => {
                self.is_first = false;
                if self.id != id {
                    self.name(id, &mut out);
                    self.is_copy = is_copy;
                }
            }
            WorkspaceEvent::OwnerUnknown => self.ask_again(),
            WorkspaceEvent::Claimed { name, is_ours, facts } => {
                // Another text may have been opened meanwhile, and claimed.
                if self.claimed_name() == name {
                    self.claimed(is_ours, facts, &mut out);
                }
            }
            WorkspaceEvent::LinkShown => {
                self.home = match self.home {
                    TextHome::Own | TextHome::Link => TextHome::Link,
                    TextHome::Lesson { .. } => TextHome::Lesson { has_link: true },
                }
            }
            WorkspaceEvent::LinkLeft => self.leave_link(),
            WorkspaceEvent::LessonShown => self.home = TextHome::Lesson { has_link: self.is_linked() },
            WorkspaceEvent::LessonLeft => {
                self.home = if self.is_linked() { TextHome::Link } else { TextHome::Own };
            }
            WorkspaceEvent::Undecided(revision) => self.undecided = Some(revision),
            WorkspaceEvent::Decided(facts) => self.decide(facts, &mut out),
            WorkspaceEvent::Changed(facts) => self.write(facts, &mut out),
            WorkspaceEvent::Ending(facts) => self.write_now(facts, &mut out),
            WorkspaceEvent::Written { is_kept, is_lasting } => {
                self.is_lasting = is_lasting;
                self.is_unkept = !is_kept;
                if is_lasting && !self.has_asked {
                    self.has_asked = true;
                    out.push(WorkspaceEffect::AskToStay);
                }
            }
            WorkspaceEvent::KeptAside(is_kept) => self.is_unkept = !is_kept,
            WorkspaceEvent::FirstVisit => self.is_first = true,
            WorkspaceEvent::WelcomeDismissed => self.is_first = false,
            WorkspaceEvent::CopyNoticed => self.is_copy = false,
        }
        out
    }

    fn name(&mut self, id: String, out: &mut Vec<WorkspaceEffect>) {
        out.push(WorkspaceEffect::Remember(id.clone()));
        self.id = id;
        self.ask_again();
    }

    fn ask_again(&mut self) {
        let is_waiting = matches!(self.owner, TextOwner::Unknown { is_waiting: true });
        self.owner = TextOwner::Unknown { is_waiting };
    }

    fn begin(&mut self, id: String, out: &mut Vec<WorkspaceEffect>) {
        self.is_copy = false;
        // The database has none of it.
        self.undecided = None;
        self.name(id.clone(), out);
        // Nobody else has the name.
        self.owner = TextOwner::This;
        out.push(WorkspaceEffect::Claim(id));
    }

    fn begin_copy(&mut self, id: String, out: &mut Vec<WorkspaceEffect>) {
        self.begin(id, out);
        self.is_copy = true;
    }

    fn leave_link(&mut self) {
        self.home = match self.home {
            TextHome::Own | TextHome::Link => TextHome::Own,
            TextHome::Lesson { .. } => TextHome::Lesson { has_link: false },
        }
    }

    fn claimed(&mut self, is_ours: bool, facts: WriteFacts, out: &mut Vec<WorkspaceEffect>) {
        let has_waited = matches!(self.owner, TextOwner::Unknown { is_waiting: true });
        self.owner = if is_ours { TextOwner::This } else { TextOwner::Another };
        if has_waited {
            self.write_now(facts, out);
        }
    }

    fn decide(&mut self, facts: WriteFacts, out: &mut Vec<WorkspaceEffect>) {
        match self.owner {
            // It stays another tab's until somebody changes it here.
            TextOwner::Another if self.is_linked() => {}
            TextOwner::Another => {
                self.begin_copy(facts.fresh_id.clone(), out);
                self.write_now(facts, out);
            }
            TextOwner::This | TextOwner::Unknown { .. } => {
                if self.undecided.take().is_some() {
                    self.write_now(facts, out);
                }
            }
        }
    }

    /// Writes what is shown. A text that waits to be written becomes one of its own, because another tab may have
    /// the original.
    fn write_now(&mut self, facts: WriteFacts, out: &mut Vec<WorkspaceEffect>) {
        self.write(facts.clone(), out);
        if let TextOwner::Unknown { is_waiting: true } = self.owner {
            self.begin_copy(facts.fresh_id.clone(), out);
            self.write(facts, out);
        }
    }

    fn write(&mut self, facts: WriteFacts, out: &mut Vec<WorkspaceEffect>) {
        // That of a lesson is kept with its progress. The database may have a later state of one that nobody changed.
        if self.is_lesson() || self.undecided == Some(facts.revision) {
            return;
        }
        // The link has all of it.
        if self.is_linked() && facts.has_link {
            return;
        }
        match self.owner {
            TextOwner::Unknown { .. } => {
                self.owner = TextOwner::Unknown { is_waiting: true };
                return;
            }
            TextOwner::This if self.is_linked() => {
                return out.push(WorkspaceEffect::Write(WriteTarget::Link));
            }
            TextOwner::This => {}
            TextOwner::Another => self.begin_copy(facts.fresh_id, out),
        }
        self.leave_link();
        out.push(WorkspaceEffect::Write(WriteTarget::Own(self.id.clone())));
    }
}
