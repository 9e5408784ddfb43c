# Files that come and go: what was left out, and why.

files-not-opened = `{ $name }` could not be opened: { $why }
files-only-python = only Python files (`.py`), notebooks (`.ipynb`) and archives (`.zip`) of them are read
files-left-out = { $n ->
    [one] { $n } of the files was left out: a workspace has at most { $most } files and 1 MiB, and those with stencils come first
   *[other] { $n } of the files were left out: a workspace has at most { $most } files and 1 MiB, and those with stencils come first
}
files-no-name = `{ $name }` is no name for a file of a workspace, and was left out
files-no-notebook = `{ $name }` is no notebook, and was left out
files-no-text = `{ $name }` is no text, and was left out
files-not-utf8 = `{ $name }` is not encoded as UTF-8, and was left out

files-zip-none = it is no zip archive, or only the beginning of one
files-zip-end = its end is broken
files-zip-list = its list of files is broken
files-zip-64 = it is of the 64-bit kind, which is not read here
files-zip-left-out = `{ $name }` of the archive was left out: { $why }
files-zip-most = only the first { $most } entries of the archive were looked at
files-zip-broken = it is broken
files-zip-encrypted = it is encrypted
files-zip-too-large = the archive is too large
files-zip-method = it is packed in a way that is not read here

# Files that come with the page, and its workers.
files-no-page = there is no page any more
files-unreachable = `{ $path }` could not be fetched: the server, or the network, is gone
files-status = `{ $path }` could not be fetched: the server answered { $status }
files-worker-refused = the browser did not start the compiler's worker: { $why }
files-worker-missing = its program could not be loaded
files-no-header = `{ $name }` is no header
