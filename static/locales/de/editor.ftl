# Der Texteditor.

code-label = Quelltext des Stencils. Tab rückt ein; Escape, dann Tab, verlässt den Editor. Steuerung+Eingabe (Befehl+Eingabe) führt aus.
code-help = Hilfe:
code-fixes = Korrekturen
code-fixes-none = Für diese Zeile gibt es keine Korrektur.
code-head-folded = { $lines ->
    [one] # @… { $lines } Zeile: oben als Karte gezeigt
   *[other] # @… { $lines } Zeilen: oben als Karte gezeigt
}
code-head-show = Diese Zeilen als Text zeigen
code-remarks = Was der Compiler mit dieser Zeile getan hat
code-remarks-more = { $said } (und { $more } weitere)
code-places = { $n ->
    [one] { $n } Stelle
   *[other] { $n } Stellen
}
code-rename = { $name } umbenennen in
code-close = Schließen

# Worte von CodeMirror.
code-phrase-find = Suchen
code-phrase-replace = Ersetzen
code-phrase-next = weiter
code-phrase-previous = zurück
code-phrase-all = alle
code-phrase-match-case = Groß/klein
code-phrase-regexp = Regexp
code-phrase-by-word = ganze Wörter
code-phrase-do-replace = ersetzen
code-phrase-do-replace-all = alle ersetzen
code-phrase-close = schließen
code-phrase-current-match = aktueller Treffer
code-phrase-on-line = in Zeile
code-phrase-replaced-on-line = Treffer in Zeile $ ersetzt
code-phrase-replaced = $ Treffer ersetzt
code-phrase-go-to-line = Zu Zeile
code-phrase-go = los
code-phrase-diagnostics = Diagnosen
code-phrase-no-diagnostics = Keine Diagnosen
code-phrase-completions = Vervollständigungen
code-phrase-selection-deleted = Auswahl gelöscht
code-phrase-folded-lines = Zugeklappte Zeilen
code-phrase-unfolded-lines = Aufgeklappte Zeilen
code-phrase-to = bis
code-phrase-folded-code = zugeklappter Code
code-phrase-unfold = aufklappen
code-phrase-fold-line = Zeile zuklappen
code-phrase-unfold-line = Zeile aufklappen
code-phrase-control-character = Steuerzeichen
