# Texts of the visitor: files, inputs, values, links, lessons, what the browser keeps.

state-files-none-dropped = no Python file and no notebook was dropped
state-files-added = { $n ->
    [one] 1 file was added
   *[other] { $n } files were added
}
state-files-added-names = { $names } added
state-files-no-name = `{ $name }` is no name for a file: write one like `package/module.py`
state-files-not-python = `{ $name }` does not end with `.py`
state-files-taken = there is a file `{ $name }` already
state-files-most = a workspace has at most { $most } files

state-inputs-whole-number = whole number
state-inputs-bool = bool
state-inputs-position = position
state-inputs-object = object
state-inputs-function = function

state-values-missing = a value is missing: { $wanted }
state-values-refused = `{ $text }` does not do: { $wanted }
state-values-bool = { $dtype } takes `True` or `False`
state-values-float = { $dtype } takes a number such as `0.5` or `-1e3`, `nan` or `inf`
state-values-int = { $dtype } takes a whole number from { $least } to { $most }
state-values-external = an external is a number, `True`, `False`, `None`, or a position such as `I[-1] + 1`

state-head-title = Advection of a tracer
state-head-about = A paragraph of physics

state-share-copied = Copied.
state-share-not-copied = The browser refused: copy the marked text by hand.
state-share-saved = Saved.
state-share-not-saved = The browser refused the file.
state-share-no-clipboard = The browser refused the clipboard.

# Why a link cannot be opened.
state-link-empty = the link has nothing in it
state-link-newer = the link was made by a newer page than this one; reload the page, or open the link where it was made
state-link-too-long = the link is longer than 64 KiB, which is more than any page writes
state-link-not-base64 = the link has characters in it that no link has; a program may have changed it
state-link-not-deflated = the link is cut short or was changed on its way
state-link-inflates-too-far = the link would unpack to more than 1 MiB, and was not unpacked
state-link-not-json = the link unpacks to something that is not a workspace
state-link-no-files = the link has no source text in it
# What was left out of a link that was opened.
state-link-note-newer = the link was made by a newer page than this; what is known of it was opened
state-link-note-files = files whose names are no file names were left out
state-link-note-domain = the domain of the link is out of range; the text's own is used
state-link-note-precision = the precision of the link is neither 32 nor 64; 64 is used
state-link-note-passes = names that no pass has were to be left out; all passes run but for the others
state-link-note-unknown = the link has parts that this page does not know; they are kept

state-kept-unreadable = This text cannot be read any more.
state-kept-earlier = This is the text of { $at }.
state-kept-of-link = Changed text of a link
state-kept-not-forgotten = The browser did not delete the texts.

state-learn-no-progress = that file holds no progress of lessons: it is the JSON that Export writes
state-learn-not-checked = the checks could not be run: { $why }
state-learn-at-fault = the lesson is at fault, and not you: { $why }
state-learn-passed = Passed.
state-learn-not-passed = Not yet: see what the checks found.
state-learn-machine-yours = your text, hidden inputs
state-learn-machine-solution = the solution, hidden inputs
