//! A parking garage.
const std = @import("std");
const Allocator = std.mem.Allocator;

pub const max_cars: usize = 200;
var opened = false;

/// What can go wrong.
pub const Error = error{ Full, Closed };

/// A garage with levels.
pub const Garage = struct {
    cars: std.ArrayList(Car),
    level: u8 = 0,

    const Self = @This();

    pub fn init(allocator: Allocator) Self {
        return .{ .cars = std.ArrayList(Car).init(allocator) };
    }

    /// Lets a car in.
    pub fn enter(self: *Self, car: Car) Error!void {
        if (self.cars.items.len >= max_cars) return Error.Full;
        try self.cars.append(car);
        log(car.plate());
    }

    const Gate = enum { open, shut };
};

const Car = union(enum) {
    electric: u32,
    petrol,

    fn plate(self: Car) []const u8 {
        return switch (self) {
            .electric => "E",
            .petrol => "P",
        };
    }
};

fn log(text: []const u8) void {
    std.debug.print("{s}\n", .{text});
}

fn Pair(comptime T: type) type {
    return struct { a: T, b: T };
}

test "enter fills the garage" {
    try std.testing.expect(!opened);
}
