# Die Beispiele, die die Seite mitbringt.

state-gallery-basics = Grundlagen
state-gallery-dynamics = Dynamik
state-gallery-physics = Physik der Säule
state-gallery-solvers = Löser
state-gallery-edges = Gitterränder
state-gallery-wrong = Absichtlich falsch
state-gallery-edited = { $title }, bearbeitet
state-gallery-your-text = Eigener Text

state-gallery-copy-scale = Kopieren und skalieren
state-gallery-about-copy-scale = Das kleinste Stencil, das es gibt
state-gallery-smoother = Glätten
state-gallery-about-smoother = Schritt für Schritt verschwindet das Rauschen, die Wellen bleiben
state-gallery-game-of-life = Spiel des Lebens
state-gallery-about-game-of-life = Zellen leben und sterben durch ihre Nachbarn
state-gallery-geostrophic-adjustment = Wellen und Rotation
state-gallery-about-geostrophic-adjustment = Wellen laufen davon, der Rest dreht sich um sich selbst
state-gallery-tracer-advection = Tracer im Wirbel
state-gallery-about-tracer-advection = Ein drehender Wind wickelt eine Wolke auf und verliert nichts von ihr
state-gallery-shallow-water = Flachwasser
state-gallery-about-shallow-water = Ein Wasserberg fällt, und seine Wellen treffen sich wieder
state-gallery-burgers = Burgers-Gleichung
state-gallery-about-burgers = Eine Welle wird zur steilen Front
state-gallery-horizontal-diffusion = Horizontale Diffusion
state-gallery-about-horizontal-diffusion = Vierte Ordnung, mit Flussbegrenzer
state-gallery-divergence-damping = Divergenzdämpfung
state-gallery-about-divergence-damping = Schwerewellen werden gedämpft, die Rotation bleibt
state-gallery-ppm-transport = PPM-Transport
state-gallery-about-ppm-transport = Stückweise Parabeln und die Ränder einer Kachel
state-gallery-column-physics = Physik der Säule
state-gallery-about-column-physics = Kondensation mit dem Newton-Verfahren, Regen und Verdunstung
state-gallery-sedimentation = Sättigung und Fall
state-gallery-about-sedimentation = Wolkenwasser wird zu Regen, der ohne Masseverlust fällt
state-gallery-cloud-base = Wolkenuntergrenze
state-gallery-about-cloud-base = Eine Suche in jeder Säule, und Lesen in der gefundenen Ebene
state-gallery-vertical-advection = Vertikale Advektion
state-gallery-about-vertical-advection = Implizit, mit dem Thomas-Algorithmus
state-gallery-thomas = Tridiagonaler Löser
state-gallery-about-thomas = Wärme breitet sich im Boden aus, mit beliebigem Zeitschritt
state-gallery-acoustic-column = Akustische Säule
state-gallery-about-acoustic-column = Schallwellen einer Säule, implizit gelöst
state-gallery-ppm-remap = Vertikale Umverteilung
state-gallery-about-ppm-remap = Von verschobenen Ebenen zurück auf feste, mit Parabeln
state-gallery-cube-corner = Ecke eines Würfels
state-gallery-about-cube-corner = Ränder und Ecken, an denen Kacheln der Kugel zusammenstoßen
state-gallery-nan-hunt = Auf NaN-Jagd
state-gallery-about-nan-hunt = Irgendwo die Wurzel einer negativen Zahl: wo fing es an?

# Mit wie vielen Punkten ein Beispiel geöffnet wird.
state-gallery-small = klein
state-gallery-own = mittel
state-gallery-large = groß
state-gallery-about-small = halb so viele Punkte entlang i und j
state-gallery-about-own = so viele Punkte, wie der Text sagt
state-gallery-about-large = doppelt so viele Punkte entlang i und j
