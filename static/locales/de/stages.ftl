stages = Stufen
stages-levels = Stufen
stages-add-about = Noch eine Stufe neben dieser zeigen
stages-add = + Spalte
stages-compiling = Wird übersetzt …
stages-watched = Den Passes wird zugesehen …
stages-no-stencil = Der Text hat noch keinen Stencil. Einen einfügen oder hinter dem Namen oben ein Beispiel nehmen.
stages-not-reached = Diese Stufe wurde nicht erreicht.
stages-not-made = { $count ->
    [one] Nicht erzeugt: Der Text hat einen Fehler. Er steht unter dem Text.
   *[other] Nicht erzeugt: Der Text hat { $count } Fehler. Sie stehen unter dem Text.
}
stages-lit = Markierte Zeilen außerhalb der Sicht: klicken, um hinzugehen
stages-passes-about = Was jeder Pass geändert hat
stages-passes = Passes
stages-find-about = In dieser Stufe suchen (Strg+F darin)
stages-find = Suchen
stages-wrap-about = Lange Zeilen umbrechen (Alt+Z)
stages-copy-about = Den Text dieser Stufe kopieren
stages-save-graph = .sdfg sichern
stages-save-graph-about = Sichert den Graphen als Datei, die DaCe liest
stages-copy = Kopieren
stages-close = { $stage } schließen
stages-text = Text von { $stage }
passes-unchanged = unverändert
passes-skipped = ausgelassen
passes-not-reached = nicht erreicht
passes-of = Passes von { $stage }
passes-previous = Voriger Pass
passes-previous-about = Voriger Pass (,)
passes-next = Nächster Pass
passes-next-about = Nächster Pass (.)
passes-side = Was vom Pass gezeigt wird
passes-pick = Einen Pass wählen, um zu sehen, was er geändert hat.
passes-before = Die Stufe vor ihren Passes.
passes-before-all = vor allen Passes
passes-after-all = nach allen Passes
passes-skip-about = Übersetzt und rechnet ohne diesen Pass: Kein Ergebnis ändert sich dadurch. Ein geteilter Link behält die Wahl.
passes-left-out = Ausgelassen
passes-leave-out = Auslassen
passes-remarks = Was der Pass sagt
passes-skipped-about = Ausgelassene Passes
passes-without = Übersetzt und gerechnet ohne
passes-again-name = { $pass } wieder laufen lassen
passes-again = Wieder laufen lassen
passes-all-again = Alle wieder laufen lassen
passes-gone = † entfernt von `{ $pass }`
passes-more-gone = , und { $count } weitere dieser Zeile
passes-show = Zeigen
stages-statements = { $count ->
    [one] 1 Anw.
   *[other] { $count } Anw.
}
stages-changed-by = { $count ->
    [one] 1 Anweisung wurde geändert von { $passes }
   *[other] { $count } Anweisungen wurden geändert von { $passes }
}
stages-traffic = Das Stencil bewegt voraussichtlich { $after } statt { $before } für { $i } × { $j } × { $k } Punkte
