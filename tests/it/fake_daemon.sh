#!/bin/sh
# Stands in for memod. The client starts it in the state dir, where a test has put what it is to do.
. ./behave
