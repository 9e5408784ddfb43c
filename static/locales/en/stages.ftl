stages = Stages
stages-levels = Levels
stages-add-about = Show one stage more beside this one
stages-add = + Pane
stages-compiling = Compiling …
stages-watched = The passes are watched …
stages-no-stencil = The text has no stencil yet. Paste one, or take an example behind the name above.
stages-not-reached = This stage was not reached.
stages-not-made = { $count ->
    [one] Not made: the text has an error. It stands under the text.
   *[other] Not made: the text has { $count } errors. They stand under the text.
}
stages-lit = Lit lines out of view: click to go there
stages-passes-about = What each pass changed
stages-passes = Passes
stages-find-about = Find in this stage (Control+F within it)
stages-find = Find
stages-wrap-about = Break long lines (Alt+Z)
stages-copy-about = Copy the text of this stage
stages-save-graph = Save .sdfg
stages-save-graph-about = Saves the graph as a file that DaCe reads
stages-copy = Copy
stages-close = Close { $stage }
stages-text = Text of { $stage }
passes-unchanged = no change
passes-skipped = left out
passes-not-reached = not reached
passes-of = Passes of { $stage }
passes-previous = Previous pass
passes-previous-about = Previous pass (,)
passes-next = Next pass
passes-next-about = Next pass (.)
passes-side = What is shown of the pass
passes-pick = Pick a pass to see what it changed.
passes-before = The stage before its passes.
passes-before-all = before all passes
passes-after-all = after all passes
passes-skip-about = Compiles and runs without this pass: no result changes by it. A share link keeps the choice.
passes-left-out = Left out
passes-leave-out = Leave out
passes-remarks = What the pass says
passes-skipped-about = Passes that are left out
passes-without = Compiled and run without
passes-again-name = Let { $pass } run again
passes-again = Let it run again
passes-all-again = All run again
passes-gone = † removed by `{ $pass }`
passes-more-gone = , and { $count } more of this line
passes-show = Show
stages-statements = { $count ->
    [one] 1 statement
   *[other] { $count } statements
}
stages-changed-by = { $count ->
    [one] 1 statement was changed by { $passes }
   *[other] { $count } statements were changed by { $passes }
}
stages-traffic = The stencil is expected to move { $after } instead of { $before } for { $i } × { $j } × { $k } points
