# The server or a worker of the project that is mounted at /project. compose.yaml runs both.
FROM node:22-slim AS ui
WORKDIR /source/ui
COPY ui/package.json ui/package-lock.json ui/.npmrc ./
RUN npm ci
COPY docs/openapi.json /source/docs/openapi.json
COPY ui ./
RUN npm run build

FROM python:3.11-slim AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE MANIFEST.in ./
COPY build_backend build_backend
COPY src src
COPY --from=ui /source/ui/dist src/burnish/server/ui_dist
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 burnish \
    && mkdir -p /project /home/burnish/.cache/burnish \
    && chown -R burnish /project /home/burnish/.cache
COPY constraints.txt /tmp/constraints.txt
# hadolint ignore=DL3013 -- our own wheel; what it needs is pinned by the constraints
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    set -- /dist/*.whl && pip install --no-cache-dir --constraint /tmp/constraints.txt \
        "$1[local,postgres,redis,objectstore,images,yaml]"
USER 1000
WORKDIR /project
EXPOSE 8720
HEALTHCHECK --start-period=20s CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8720/health/live')"]
CMD ["burnish", "serve", "--host", "0.0.0.0"]
