package org.example.choir

import scala.collection.mutable

/** A voice in the choir. */
sealed trait Voice {
  def range: Int
  def sing(note: Note): Sound = Sound(note, range)
}

case class Alto(name: String) extends Voice {
  override val range: Int = 2

  /** Breathes in. */
  @inline
  def breathe(): Unit = {
    def hold(): Unit = wait(range)
    hold()
    Lungs.fill(this)
  }
}

object Choir {
  val MaxVoices = 40
  type Row = List[Voice]
  private var rows: Row = Nil

  def apply(voices: Voice*): Choir = new Choir(voices.toList)

  object Empty
}

class Choir(voices: List[Voice]) {
  lazy val size: Int = voices.length

  def tune(note: Note)(implicit hall: Hall): Seq[Sound] =
    voices.map(_.sing(note))
}

enum Pitch {
  case High, Low
}

given Ordering[Pitch] = Ordering.by(_.ordinal)

extension (note: Note)
  def sharp: Note = note.raise(1)

def conduct(choir: Choir): Unit =
  choir.tune(Note.A)
