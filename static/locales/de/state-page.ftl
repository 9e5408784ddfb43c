# Der Rahmen der Seite: Ansichten, Tasten, Seiten des Handbuchs.

state-tab-code = Code
state-tab-stages = Stufen
state-tab-result = Ergebnis
state-tab-learn = Lernen

state-below-problems = Probleme
state-below-inputs = Eingaben
state-below-output = Ausgabe

state-key-run = ausführen, was gewählt ist
state-key-run-runner = auf dem Runner ausführen
state-key-compare = beides ausführen und vergleichen
state-key-stop = anhalten
state-key-share = einen Link teilen
state-key-save = nichts: der Text wird beim Tippen aufbewahrt
state-key-save-said = Der Text wird beim Tippen in diesem Browser aufbewahrt; Teilen macht einen Link daraus.
state-key-editor = zum Editor
state-key-stages = zu den Stufen
state-key-result = zum Ergebnis
state-key-next-pane = nächster Bereich
state-key-previous-pane = voriger Bereich
state-key-next-problem = nächstes Problem
state-key-previous-problem = voriges Problem
state-key-fix = das Problem an der Schreibmarke beheben
state-key-remarks = was der Compiler mit der Zeile der Schreibmarke getan hat
state-key-wrap = lange Zeilen umbrechen oder nicht
state-key-next-stage = nächste Stufe
state-key-previous-stage = vorige Stufe
state-key-next-pass = nächster Pass der Stufe
state-key-previous-pass = voriger Pass der Stufe
state-key-next-change = nächster Pass, der etwas geändert hat
state-key-previous-change = voriger Pass, der etwas geändert hat
state-key-step = ein Zeitschritt
state-key-restart = zurück zum ersten Zeitschritt
state-key-next-level = nächste Ebene des Feldes
state-key-previous-level = vorige Ebene des Feldes
state-key-which = Ergebnis A, B oder die Differenz
state-key-inputs = die Eingaben auf- und zuklappen
state-key-help = diese Hilfe

# Seiten des Handbuchs: ihre Titel, und wovon sie handeln.
state-manual-language = Die Sprache
state-manual-about-language = Was ein Stencil sagen kann und was es bedeutet
state-manual-diagnostics = Diagnosen
state-manual-about-diagnostics = Jeder Fehler und jede Warnung, mit Beispiel und Abhilfe
state-manual-math = Elementare Funktionen
state-manual-about-math = exp, log, sin und die anderen: Verfahren, Genauigkeit, besondere Werte
state-manual-schedule = Passes und Schedules
state-manual-about-schedule = Was der Compiler entscheidet, wie man ihm zusieht und wie man es festlegt
state-manual-gpu = GPUs
state-manual-about-gpu = Wie Kernel entstehen und gestartet werden, und was schiefgehen kann
state-manual-openmp = Das C von openmp
state-manual-about-openmp = Das erzeugte C von Hand übersetzen
state-manual-lessons = Lektionen schreiben
state-manual-about-lessons = Kurse sind Daten: Texte, Prüfungen und Zeichnungen, für die eigenen Studierenden
state-manual-api = Die Schnittstelle des Runners
state-manual-about-api = HTTP-Adressen, Ereignisse, Fehler und Grenzen
state-manual-no-page = das Handbuch hat keine Seite `{ $page }`
state-key-ctrl = Strg
state-key-shift = Umschalt
