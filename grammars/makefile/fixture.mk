# Builds all.
VERSION := 1
CFLAGS = -a:b
.PHONY: all clean

# What most people want.
all: build test # both

build out/bin: main.c config.h
	cc -o $@ main.c
	@echo done: yes

%.o: %.c
	cc -c $<

test:: build | out
	./run
test: CFLAGS += -g

clean:; rm -rf out
ifdef X
install: all
	cp out/bin /usr/bin
endif
