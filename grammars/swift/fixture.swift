import Foundation

let maxFloors = 12

typealias Stop = (floor: Int, name: String)

/// Something that moves.
protocol Moving {
    associatedtype Place
    var speed: Double { get }
    func move(to floor: Int) throws
}

/// A lift in a house.
@MainActor
public final class Lift: Machine, Moving {
    static let shared = Lift(floors: maxFloors)
    private var queue: [Int] = []

    init(floors: Int) {
        super.init()
    }

    deinit {
        stop()
    }

    /// Moves to a floor.
    func move(to floor: Int) throws {
        func check() -> Bool { floor < maxFloors }
        guard check() else { throw LiftError.tooHigh }
        queue.append(floor)
        motor.start()
    }

    var isIdle: Bool {
        queue.isEmpty
    }

    struct Door {
        mutating func open() {}
    }
}

enum LiftError: Error {
    case tooHigh
    case stuck(Int)
}

extension Lift: Equatable {
    static func == (a: Lift, b: Lift) -> Bool { a === b }

    func call() -> Stop {
        return (floor: 0, name: describe(self))
    }
}

func build<T: Moving>(_ make: () -> T) -> T {
    make()
}
