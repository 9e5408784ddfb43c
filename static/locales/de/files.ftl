# Dateien, die kommen und gehen: was weggelassen wurde und warum.

files-not-opened = `{ $name }` ließ sich nicht öffnen: { $why }
files-only-python = gelesen werden nur Python-Dateien (`.py`), Notebooks (`.ipynb`) und Archive (`.zip`) davon
files-left-out = { $n ->
    [one] { $n } der Dateien wurde weggelassen: ein Arbeitsbereich hat höchstens { $most } Dateien und 1 MiB, und die mit Stencils gehen vor
   *[other] { $n } der Dateien wurden weggelassen: ein Arbeitsbereich hat höchstens { $most } Dateien und 1 MiB, und die mit Stencils gehen vor
}
files-no-name = `{ $name }` ist kein Name für eine Datei eines Arbeitsbereichs und wurde weggelassen
files-no-notebook = `{ $name }` ist kein Notebook und wurde weggelassen
files-no-text = `{ $name }` ist kein Text und wurde weggelassen
files-not-utf8 = `{ $name }` ist nicht als UTF-8 kodiert und wurde weggelassen

files-zip-none = es ist kein Zip-Archiv oder nur der Anfang davon
files-zip-end = das Ende ist beschädigt
files-zip-list = die Dateiliste ist beschädigt
files-zip-64 = es ist von der 64-Bit-Art, die hier nicht gelesen wird
files-zip-left-out = `{ $name }` aus dem Archiv wurde weggelassen: { $why }
files-zip-most = nur die ersten { $most } Einträge des Archivs wurden angesehen
files-zip-broken = beschädigt
files-zip-encrypted = verschlüsselt
files-zip-too-large = das Archiv ist zu groß
files-zip-method = auf eine Art gepackt, die hier nicht gelesen wird

# Dateien, die die Seite mitbringt, und ihre Worker.
files-no-page = die Seite gibt es nicht mehr
files-unreachable = `{ $path }` ließ sich nicht holen: der Server oder das Netz ist weg
files-status = `{ $path }` ließ sich nicht holen: der Server antwortete { $status }
files-worker-refused = der Browser hat den Worker des Compilers nicht gestartet: { $why }
files-worker-missing = das Programm ließ sich nicht laden
files-no-header = `{ $name }` ist keine Kopfzeile
