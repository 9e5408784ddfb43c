drawer-height = Höhe der Ablage
drawer-lists = Unter dem Text
drawer-wrap-about = Lange Zeilen des Textes umbrechen (Alt+Z)
wrap = Umbruch
drawer-open = Ablage öffnen
drawer-shut = Ablage schließen
drawer-hints = { $count ->
    [one] 1 Hinweis
   *[other] { $count } Hinweise
}
drawer-warnings = { $count ->
    [one] 1 Warnung
   *[other] { $count } Warnungen
}
drawer-errors = { $count ->
    [one] 1 Fehler
   *[other] { $count } Fehler
}
drawer-missing = { $count ->
    [one] 1 Eingabe fehlt
   *[other] { $count } Eingaben fehlen
}
guide = Was dieser Text braucht
guide-missing = { $count ->
    [one] { $names } kommt aus `{ $module }`, das nicht hier ist.
   *[other] { $names } kommen aus `{ $module }`, das nicht hier ist.
}
guide-missing-others = { $names } und andere kommen aus `{ $module }`, das nicht hier ist.
guide-add-about = Diese Datei wählen, oder ein Zip-Archiv, das sie enthält
guide-add = { $path } hinzufügen …
guide-folder-about = Den Ordner des Modells wählen: Was gebraucht wird, wird darin gefunden
guide-folder = Ordner des Modells hinzufügen …
guide-paste-about = Öffnet eine leere Datei dieses Namens für ihren Text
guide-paste = Einfügen
guide-functions = { $count ->
    [one] Diese Datei hat 1 Funktion ({ $names }) und kein Stencil: Funktionen laufen, wo ein Stencil sie aufruft.
   *[other] Diese Datei hat { $count } Funktionen ({ $names }) und kein Stencil: Funktionen laufen, wo ein Stencil sie aufruft.
}
guide-write-stencil = Ein Stencil schreiben, das { $function } aufruft
guide-and = { $before } und { $last }
guide-made-up = Die Werte von { $listed } sind ausgedacht, nach Name und Verwendung.
guide-mark = ausgedacht
guide-look = Ansehen
guide-write-about = Schreibt sie als Zeilen # @input, # @scalar, # @external und # @domain an den Anfang des Textes
guide-write = In den Text schreiben
head-as-text-about = Diese Zeilen im Text zeigen
head-fold-about = Diese Zeilen in diese Karte falten
head = Über diesen Text
head-as-text = als Text
head-fold = falten
head-remove = Diese Zeile entfernen
head-remove-word = Die Zeile @{ $word } entfernen
head-kind = Art der weiteren Zeile
head-add = Die weitere Zeile; Enter fügt sie hinzu
output-empty = Was Läufe und die Seite melden, bleibt hier stehen.
output-clear = Leeren
problems-none = Keine Probleme.
problems-copy = Als Markdown kopieren
problems-copy-about = Kopiert sie alle als Liste, um jemanden danach zu fragen
problems-about-code = Was { $code } bedeutet
problems-error = Fehler
problems-warning = Warnung
problems-hint = Hinweis
problems-help = Hilfe:
problems-cell = Zelle { $cell }, Zeile { $line }
problems-fix-about = Den Text berichtigen: { $fix } (Strg+I bei der Schreibmarke)
problems-give-value = { $name } einen Wert geben
problems-give-values = { $name } Werte geben
problems-add-file = Datei hinzufügen …
tabs = Dateien
tabs-new = Neue Datei
tabs-open-about = Dateien öffnen …
tabs-folder-about = Ordner öffnen …
tabs-drop = Python-Dateien, Notebooks, einen Ordner oder ein Zip-Archiv ablegen: Sie werden hier gelesen und nirgendwohin gesendet.
tabs-main-about = Das Stencil dieser Datei wird übersetzt
tabs-add = Dateien hinzufügen
tabs-open = Öffnen …
tabs-folder = Ordner …
tabs-main = Haupt
tabs-file = Die Datei { $name }
tabs-rename-about = Diese Datei umbenennen (F2 auf ihrem Reiter)
tabs-rename = Diese Datei umbenennen
tabs-make-main-about = Das Stencil dieser Datei übersetzen und ausführen
tabs-make-main = Zur Hauptdatei machen
tabs-close-about = Diese Datei schließen (Entf auf ihrem Reiter)
tabs-close = Diese Datei schließen
tabs-name = Name der Datei; Enter übernimmt ihn, Escape verwirft ihn
