<?php

declare(strict_types=1);

namespace App\Bakery;

use App\Oven\Oven;

const LOAVES = 20;
define('FLOUR', 'rye');

/**
 * Bakes bread.
 */
#[Service]
final class Baker extends Person implements Bakes
{
    use Apron;

    public const SHIFT = 8;
    private array $orders = [];

    public function __construct(private Oven $oven)
    {
        parent::__construct();
    }

    /** Bakes one order. */
    public function bake(Order $order): ?Bread
    {
        $dough = $this->knead($order->kilos());
        return Bread::from($dough, fn ($d) => strlen($d));
    }

    abstract protected function knead(int $kilos): Dough;

    public static function hire(): static
    {
        return new static(new Oven());
    }
}

interface Bakes
{
    public function bake(Order $order): ?Bread;
}

trait Apron
{
    public function tie(): void
    {
    }
}

enum Grain: string
{
    case Rye = 'rye';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

function price(Bread $bread): int
{
    return round($bread->weight * LOAVES);
}
