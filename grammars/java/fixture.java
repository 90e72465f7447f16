package org.example.mill;

import java.util.List;

/** Grinds grain. */
@Deprecated
public class Mill<T extends Grain> extends Building implements Runnable {
    public static final int STONES = 2;
    private final List<T> sacks = new ArrayList<>();

    public Mill(int size) {
        super(size);
    }

    /**
     * Grinds everything there is.
     */
    @Override
    public void run() {
        Runnable task = new Runnable() {
            public void run() {
                sacks.clear();
            }
        };
        task.run();
        Flour.of(this).sift();
    }

    abstract int weight();

    static class Wheel {
        void turn() { Water.flow(STONES); }
    }

    enum Grade {
        COARSE, FINE;

        Grade next() {
            return FINE;
        }
    }
}

interface Grain {
    String name();

    default boolean isRye() {
        return "rye".equals(name());
    }
}

record Sack(int kilos, Grain grain) {
}

@interface Stone {
    int value() default 1;
}
