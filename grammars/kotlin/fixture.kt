package org.example.post

import java.time.Instant

const val MAX_WEIGHT = 30
private val offices: MutableMap<String, Office> = mutableMapOf()

typealias Stamp = Pair<Int, String>

/** A letter on its way. */
@Serializable
data class Letter(val to: Address, val weight: Int) : Item(), Trackable {
    val isHeavy: Boolean get() = weight > MAX_WEIGHT

    init {
        require(weight > 0)
    }

    /**
     * Sends it.
     */
    override suspend fun send(via: Office): Receipt {
        fun log(text: String) = println(text)
        log("sending")
        return via.accept(this).also { it.stamp() }
    }

    companion object {
        fun empty() = Letter(Address.NONE, 1)
    }

    inner class Seal {
        fun crack() {}
    }
}

interface Trackable {
    fun track(): Instant
}

object Registry {
    fun find(name: String): Office? = offices[name]
}

enum class Speed(val days: Int) {
    SLOW(5), FAST(1);

    fun cost(): Int = 10 / days
}

sealed interface Outcome

fun Letter.readdress(to: Address): Letter = copy(to = to)

fun <T : Item> deliver(items: List<T>) {
    items.forEach { Registry.find("main")?.accept(it) }
}
