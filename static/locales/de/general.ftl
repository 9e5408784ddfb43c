# In welche Richtung die Sprache geschrieben wird: ltr oder rtl.
direction = ltr
# Was vor den Nachkommastellen einer Zahl steht.
number-decimal = ,

stale = Stand vor der Änderung
line-number = Zeile { $line }
go-to-line = Zu Zeile { $line }
choose-one = bitte wählen
dismiss = Schließen
close = Schließen
back = Zurück
reset = Zurücksetzen
part-of = { $at } von { $of }
whole-field = ganzes Feld
this-plane = dieses { $axis }
n-fields = { $count ->
    [one] 1 Feld
   *[other] { $count } Felder
}
n-scalars = { $count ->
    [one] 1 Skalar
   *[other] { $count } Skalare
}
n-externals = { $count ->
    [one] 1 External
   *[other] { $count } Externals
}
n-constructor = { $count ->
    [one] 1 Wert des Konstruktors
   *[other] { $count } Werte des Konstruktors
}
n-inputs = { $count ->
    [one] 1 Eingabe
   *[other] { $count } Eingaben
}
no-runner-start = Diese Seite hat keinen Runner: einen mit `isobar serve` starten und die Adresse öffnen, die er ausgibt
source = Quelltext
fields = Felder
loading-compiler = Der Compiler wird geladen …
lessons = Lektionen
gallery = Galerie
manual = Handbuch
result = Ergebnis
share = Teilen
inputs = Eingaben
problems = Probleme
output = Ausgabe
domain = Gebiet
part-missing = Dieser Teil der Seite ließ sich nicht laden.
part-again = Noch einmal versuchen
