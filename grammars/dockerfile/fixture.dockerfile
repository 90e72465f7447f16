# syntax=docker/dockerfile:1
ARG VERSION=1

# Builds the programs.
FROM --platform=$BUILDPLATFORM rust:1 AS build
WORKDIR /src
RUN --mount=type=bind,from=deps,target=/deps \
    cargo build --release
RUN <<EOF
FROM nothing AS fake
EOF

FROM debian:12 as deps
RUN apt-get update

# What is shipped.
FROM deps AS final
COPY --from=build /src/target/release/memo /usr/bin/
COPY --chown=1:1 --from=deps /a /b

FROM scratch
COPY --from=final / /
