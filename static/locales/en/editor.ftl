# The text editor.

code-label = Stencil source. Tab indents; press Escape, then Tab, to leave the editor. Control+Enter (Command+Enter) runs.
code-help = help:
code-fixes = Fixes
code-fixes-none = There is no fix for this line.
code-head-folded = { $lines ->
    [one] # @… { $lines } line: shown above as a card
   *[other] # @… { $lines } lines: shown above as a card
}
code-head-show = Show these lines as text
code-remarks = What the compiler did with this line
code-remarks-more = { $said } (and { $more } more)
code-places = { $n ->
    [one] { $n } place
   *[other] { $n } places
}
code-rename = Rename { $name } to
code-close = Close

# Words of CodeMirror.
code-phrase-find = Find
code-phrase-replace = Replace
code-phrase-next = next
code-phrase-previous = previous
code-phrase-all = all
code-phrase-match-case = match case
code-phrase-regexp = regexp
code-phrase-by-word = by word
code-phrase-do-replace = replace
code-phrase-do-replace-all = replace all
code-phrase-close = close
code-phrase-current-match = current match
code-phrase-on-line = on line
code-phrase-replaced-on-line = replaced match on line $
code-phrase-replaced = replaced $ matches
code-phrase-go-to-line = Go to line
code-phrase-go = go
code-phrase-diagnostics = Diagnostics
code-phrase-no-diagnostics = No diagnostics
code-phrase-completions = Completions
code-phrase-selection-deleted = Selection deleted
code-phrase-folded-lines = Folded lines
code-phrase-unfolded-lines = Unfolded lines
code-phrase-to = to
code-phrase-folded-code = folded code
code-phrase-unfold = unfold
code-phrase-fold-line = Fold line
code-phrase-unfold-line = Unfold line
code-phrase-control-character = Control character
