# docker build -t xcbench . && docker run --rm -v "$PWD/runs:/xcbench/runs" xcbench python run.py dataset=digits method=umax
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends git make && rm -rf /var/lib/apt/lists/*
WORKDIR /xcbench
COPY requirements.lock .
RUN pip install --no-cache-dir -r requirements.lock
COPY . .
RUN pip install --no-cache-dir --no-deps --editable .
ENV MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true
CMD ["xcbench", "--help"]
