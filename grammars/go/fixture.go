// Package ferry plans crossings.
package ferry

import (
	"errors"
	"time"
)

// MaxCars is how many cars fit.
const MaxCars = 40

const (
	Calm Weather = iota
	Windy
	Stormy
)

var ErrFull, ErrLate = errors.New("full"), errors.New("late")

var (
	harbour = "Calais"
	quay    = 3
)

// Weather on the water.
type Weather int

type (
	// Captain decides.
	Captain interface {
		Sail(w Weather) error
	}
	Alias = Captain
)

// Ferry carries cars.
type Ferry[T any] struct {
	captain Captain
	cars    []T
}

// Board lets a car on, or says that the ferry is full.
func (f *Ferry[T]) Board(car T) error {
	const spare = 2
	if len(f.cars) > MaxCars-spare {
		return ErrFull
	}
	f.cars = append(f.cars, car)
	return nil
}

func (w Weather) String() string { return names[w] }

func New[T any](captain Captain) *Ferry[T] {
	check := func(c Captain) { validate(c) }
	check(captain)
	return &Ferry[T]{captain: captain}
}

func Plan(start time.Time) (departure time.Time, err error) {
	return start.Add(delay()), nil
}
