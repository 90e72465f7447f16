using System;
using System.Collections.Generic;

namespace Harbour.Cranes
{
    /// <summary>
    /// Lifts containers.
    /// </summary>
    [Serializable]
    public class Crane : Machine, ILifter
    {
        public const int MaxTons = 40;
        private readonly List<Container> _queue = new();

        public Crane(int arms) : base(arms) { }

        /// <summary>How many wait.</summary>
        public int Waiting => _queue.Count;

        public string Name { get; set; } = "none";

        public event EventHandler Lifted;

        public async Task<bool> LiftAsync(Container box)
        {
            void Check() => Guard.NotNull(box);
            Check();
            await _motor.RaiseAsync(box.Tons);
            return Lifted?.Invoke(this, EventArgs.Empty) != null;
        }

        public static Crane operator +(Crane a, Crane b) => a;

        private struct Hook
        {
            public double Width;
        }
    }

    public interface ILifter
    {
        Task<bool> LiftAsync(Container box);
    }

    public enum Berth { North, South }

    public record Container(int Tons, string Owner);

    public delegate void Signal(int code);

    public static class Extensions
    {
        public static bool IsHeavy(this Container box)
        {
            return box.Tons > Crane.MaxTons;
        }
    }
}
