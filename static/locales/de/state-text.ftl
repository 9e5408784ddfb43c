# Eigene Texte: Dateien, Eingaben, Werte, Links, Lektionen, was der Browser aufbewahrt.

state-files-none-dropped = darunter ist keine Python-Datei und kein Notebook
state-files-added = { $n ->
    [one] 1 Datei hinzugefügt
   *[other] { $n } Dateien hinzugefügt
}
state-files-added-names = { $names } hinzugefügt
state-files-no-name = `{ $name }` ist kein Name für eine Datei: einer wie `package/module.py` ist gefragt
state-files-not-python = `{ $name }` endet nicht auf `.py`
state-files-taken = eine Datei `{ $name }` gibt es schon
state-files-most = ein Arbeitsbereich hat höchstens { $most } Dateien

state-inputs-whole-number = ganze Zahl
state-inputs-bool = bool
state-inputs-position = Position
state-inputs-object = Objekt
state-inputs-function = Funktion

state-values-missing = ein Wert fehlt: { $wanted }
state-values-refused = `{ $text }` passt nicht: { $wanted }
state-values-bool = { $dtype } nimmt `True` oder `False`
state-values-float = { $dtype } nimmt eine Zahl wie `0.5` oder `-1e3`, `nan` oder `inf`
state-values-int = { $dtype } nimmt eine ganze Zahl von { $least } bis { $most }
state-values-external = ein External ist eine Zahl, `True`, `False`, `None` oder eine Position wie `I[-1] + 1`

state-head-title = Advektion eines Tracers
state-head-about = Ein Absatz zur Physik

state-share-copied = Kopiert.
state-share-not-copied = Der Browser hat abgelehnt: den markierten Text von Hand kopieren.
state-share-saved = Gespeichert.
state-share-not-saved = Der Browser hat die Datei abgelehnt.
state-share-no-clipboard = Der Browser hat die Zwischenablage verweigert.

# Warum sich ein Link nicht öffnen lässt.
state-link-empty = der Link ist leer
state-link-newer = der Link stammt von einer neueren Seite als dieser; die Seite neu laden oder den Link dort öffnen, wo er entstand
state-link-too-long = der Link ist länger als 64 KiB, mehr als irgendeine Seite schreibt
state-link-not-base64 = der Link enthält Zeichen, die kein Link hat; vielleicht hat ein Programm ihn verändert
state-link-not-deflated = der Link ist abgeschnitten oder wurde unterwegs verändert
state-link-inflates-too-far = der Link würde ausgepackt mehr als 1 MiB ergeben und wurde nicht ausgepackt
state-link-not-json = der Link enthält ausgepackt etwas, das kein Arbeitsbereich ist
state-link-no-files = der Link enthält keinen Quelltext
# Was von einem geöffneten Link weggelassen wurde.
state-link-note-newer = der Link stammt von einer neueren Seite als dieser; geöffnet wurde, was davon bekannt ist
state-link-note-files = Dateien, deren Namen keine Dateinamen sind, wurden weggelassen
state-link-note-domain = das Gebiet des Links liegt außerhalb der Grenzen; das des Textes gilt
state-link-note-precision = die Genauigkeit des Links ist weder 32 noch 64; 64 gilt
state-link-note-passes = Namen, die kein Pass hat, sollten ausgelassen werden; außer den übrigen laufen alle Passes
state-link-note-unknown = der Link hat Teile, die diese Seite nicht kennt; sie bleiben erhalten

state-kept-unreadable = Dieser Text lässt sich nicht mehr lesen.
state-kept-earlier = Das ist der Text von { $at }.
state-kept-of-link = Geänderter Text eines Links
state-kept-not-forgotten = Der Browser hat die Texte nicht gelöscht.

state-learn-no-progress = diese Datei enthält keinen Lernfortschritt: gefragt ist das JSON, das Exportieren schreibt
state-learn-not-checked = die Prüfungen ließen sich nicht ausführen: { $why }
state-learn-at-fault = der Fehler liegt an der Lektion: { $why }
state-learn-passed = Bestanden.
state-learn-not-passed = Noch nicht: siehe, was die Prüfungen fanden.
state-learn-machine-yours = der eigene Text, verborgene Eingaben
state-learn-machine-solution = die Lösung, verborgene Eingaben
