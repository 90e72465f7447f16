# frozen_string_literal: true

require "set"

# Everything about bees.
module Apiary
  MAX_HIVES = 12

  # One hive.
  class Hive < Base
    include Comparable
    attr_reader :queen, :frames

    Frame = Struct.new(:cells)

    def initialize(queen)
      @queen = queen
      @frames = Set.new
    end

    # Adds honey to a frame.
    def store(honey, into: nil)
      frame = into || frames.first
      frame.fill(honey)
    end

    def empty? = frames.none?

    def <=>(other)
      size <=> other.size
    end

    def self.swarm(from)
      new(from.queen).tap { |hive| hive.settle }
    end

    class << self
      def count
        registry.size
      end
    end

    private

    def settle
      Keeper.notify(self)
    end
  end

  class Apiary::Error < StandardError; end
end

def harvest(hives)
  hives.sum(&:honey)
end
