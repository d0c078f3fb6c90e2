//! Whose turn it is among the classes of one priority.

/// A place in the round of the classes that may send, at one level and priority.
///
/// Linux keeps those classes in a tree. When the class whose turn it is leaves the tree of the
/// leaves, its successor is next, at once; when it leaves that of its parent, Linux remembers its
/// number and looks for a successor only when it next serves the tree (`last_ptr_id`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    at: Option<usize>,
    last: Option<usize>,
}

impl Turn {
    /// The class whose turn it is among the `members`, of which there are `classes` at most
    /// (`htb_lookup_leaf`).
    pub(super) fn current(
        &mut self,
        classes: usize,
        member: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let from = |first: usize| (first..classes).find(|&class| member(class));
        let last = self.last.take();
        self.at = self.at.or_else(|| last.and_then(from)).or_else(|| from(0));
        self.at
    }

    /// Its turn is over (`htb_next_rb_node`).
    pub(super) fn pass_on(&mut self, classes: usize, member: impl Fn(usize) -> bool) {
        let behind = |class: usize| (class + 1..classes).find(|&class| member(class));
        self.at = self.at.and_then(behind);
    }

    /// `class` ceases to be a leaf that can send; `member` are the others.
    pub(super) fn leave_row(
        &mut self,
        class: usize,
        classes: usize,
        member: impl Fn(usize) -> bool,
    ) {
        if self.at == Some(class) {
            self.pass_on(classes, member);
        }
    }

    /// `class` ceases to be one that may borrow.
    pub(super) fn leave_feed(&mut self, class: usize) {
        if self.at == Some(class) {
            self.last = self.at.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_goes_on_behind_a_class_that_left() {
        let all = |_: usize| true;
        let but = |gone: usize| move |class: usize| class != gone;
        let mut row = Turn::default();
        assert_eq!(row.current(4, all), Some(0));
        row.pass_on(4, all);
        row.leave_row(1, 4, but(1));
        // Class 1 is back before its tree is served: it missed its turn.
        assert_eq!(row.current(4, all), Some(2));

        let mut feed = Turn::default();
        assert_eq!(feed.current(4, all), Some(0));
        feed.pass_on(4, all);
        feed.leave_feed(1);
        // Here it hasn't.
        assert_eq!(feed.current(4, all), Some(1));
        feed.leave_feed(1);
        assert_eq!(feed.current(4, but(1)), Some(2));
        feed.leave_feed(3);
        assert_eq!(feed.current(4, all), Some(2));
        feed.pass_on(3, all);
        assert_eq!(feed.current(3, all), Some(0));
        assert_eq!(feed.current(0, all), Some(0), "its turn lasts until it leaves");
    }
}
