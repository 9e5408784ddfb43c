drawer-height = Height of the drawer
drawer-lists = Below the text
drawer-wrap-about = Break long lines of the text (Alt+Z)
wrap = Wrap
drawer-open = Open the drawer
drawer-shut = Shut the drawer
drawer-hints = { $count ->
    [one] 1 hint
   *[other] { $count } hints
}
drawer-warnings = { $count ->
    [one] 1 warning
   *[other] { $count } warnings
}
drawer-errors = { $count ->
    [one] 1 error
   *[other] { $count } errors
}
drawer-missing = { $count ->
    [one] 1 input missing
   *[other] { $count } inputs missing
}
guide = What this text needs
guide-missing = { $count ->
    [one] { $names } comes from `{ $module }`, which is not here.
   *[other] { $names } come from `{ $module }`, which is not here.
}
guide-missing-others = { $names } and others come from `{ $module }`, which is not here.
guide-add-about = Choose this file, or a zip archive that has it
guide-add = Add { $path } …
guide-folder-about = Choose the folder of the model: what is needed is found in it
guide-folder = Add the model's folder …
guide-paste-about = Opens an empty file of that name, for its text
guide-paste = Paste it
guide-functions = { $count ->
    [one] This file has 1 function ({ $names }) and no stencil: functions run where a stencil calls them.
   *[other] This file has { $count } functions ({ $names }) and no stencil: functions run where a stencil calls them.
}
guide-write-stencil = Write a stencil that calls { $function }
guide-and = { $before } and { $last }
guide-made-up = The values of { $listed } are made up, by name and use.
guide-mark = made up
guide-look = Look at them
guide-write-about = Writes them as lines # @input, # @scalar, # @external and # @domain to the head of the text
guide-write = Write them into the text
head-as-text-about = Show these lines in the text
head-fold-about = Fold these lines into this card
head = About this text
head-as-text = as text
head-fold = fold
head-remove = Take this line out
head-remove-word = Take out the line @{ $word }
head-kind = Kind of the further line
head-add = The further line; Enter adds it
output-empty = What runs and the page say is kept here.
output-clear = Clear
problems-none = No problems.
problems-copy = Copy as Markdown
problems-copy-about = Copies all of these as a list, to ask somebody about them
problems-about-code = What { $code } means
problems-error = error
problems-warning = warning
problems-hint = hint
problems-help = help:
problems-cell = cell { $cell }, line { $line }
problems-fix-about = Mend the text: { $fix } (Control+I at the caret)
problems-give-value = Give { $name } a value
problems-give-values = Give { $name } values
problems-add-file = Add a file …
tabs = Files
tabs-new = New file
tabs-open-about = Open files …
tabs-folder-about = Open a folder …
tabs-drop = Drop Python files, notebooks, a folder or a zip archive: they are read here and sent nowhere.
tabs-main-about = The stencil of this file is compiled
tabs-add = Add files
tabs-open = Open …
tabs-folder = Folder …
tabs-main = main
tabs-file = The file { $name }
tabs-rename-about = Rename this file (F2 on its tab)
tabs-rename = Rename this file
tabs-make-main-about = Compile and run the stencil of this file
tabs-make-main = Make main
tabs-close-about = Close this file (Delete on its tab)
tabs-close = Close this file
tabs-name = Name of the file; Enter takes it, Escape leaves it
