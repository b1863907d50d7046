"""The texts that lie in the deploy repository and beside it: what an operator of this site would have written.

The bytes of the tracked files are part of a commit whose id is pinned, so that
a change here needs another nonce in `git_repository`.
"""

from __future__ import annotations

DSV41_ENV = """\
# dsv41: one model on two Spark nodes, defaults of the production launch.
# Every line is a default: override any of them in the environment before launching.
#   K1_PAIR=0 ./start.sh        # one start without K1

# ---- nodes and fabric -------------------------------------------------------
HEAD_ADDR=${HEAD_ADDR:-10.100.16.1}                       # rank 0, the rendezvous
PEER_HOST=${PEER_HOST:-sparkpeer}                         # rank 1, over the head's own ssh
FABRIC_IF=${FABRIC_IF:-enp1s0f1np1}                       # cage 2, half A
FABRIC_DEV=${FABRIC_DEV:-rocep1s0f1}
NCCL_SOCKET_IFNAME=${NCCL_SOCKET_IFNAME:-enp1s0f1np1}     # bootstrap only
NCCL_IB_HCA=${NCCL_IB_HCA:-rocep1s0f1,roceP2p1s0f1}       # both f1 functions: names are case-sensitive
                                                          # (p1 is half A, P2p1 its twin)
NCCL_DEBUG=${NCCL_DEBUG:-INFO}                            # the device line is evidence, keep it
EXL3_RING_DEVICE=${EXL3_RING_DEVICE:-rocep1s0f1}
NODE_SHORT=${NODE_SHORT:-$(hostname -s)}                  # for log names only

# ---- image and checkpoint ---------------------------------------------------
IMAGE=${IMAGE:-dsv41-vllm:v5}
CONTAINER=${CONTAINER:-dsv41}
CHECKPOINT=${CHECKPOINT:-/srv/dsv41/legal-v2a}
K1_DIR=${K1_DIR:-/srv/dsv41-k1}
CACHE_DIR=${CACHE_DIR:-/var/cache/dsv41}                  # triton, flashinfer, vllm
LOG_DIR=${LOG_DIR:-/var/log/dsv41}
LAUNCH_STATE=${LAUNCH_STATE:-$HOME/.dsv41}
SERVED_ALIASES=${SERVED_ALIASES:-dsv41 dsv41-327k}        # what the gateway calls it
EXTRA_ARGS=${EXTRA_ARGS:-}

# ---- context and pool -------------------------------------------------------
TP_SIZE=${TP_SIZE:-2}
MAX_MODEL_LEN=${MAX_MODEL_LEN:-327680}
KV_CACHE_BYTES=${KV_CACHE_BYTES:-6442450944}              # per rank; 2,502,600 tokens

# ---- K1 ---------------------------------------------------------------------
K1_PAIR=${K1_PAIR:-3}
K1_DROP_MTP=${K1_DROP_MTP:-1}
K1_TRANSIENT=${K1_TRANSIENT:-1}
K1_ALIAS=${K1_ALIAS:-1}
K1_INDEXER_FACTOR=${K1_INDEXER_FACTOR:-4}

# ---- admission and batching -------------------------------------------------
MAX_NUM_SEQS=${MAX_NUM_SEQS:-4}
MAX_BATCH=${MAX_BATCH:-4096}
PREFILL_THRESHOLD=${PREFILL_THRESHOLD:-1024}
SCHED_POLICY=${SCHED_POLICY:-priority}
DSV41_THROTTLE_MIN=${DSV41_THROTTLE_MIN:-5}
DSV41_THROTTLE_EVERY=${DSV41_THROTTLE_EVERY:-24}

# ---- speculation ------------------------------------------------------------
SPEC_CONFIG=${SPEC_CONFIG:-'{"method":"dspark","num_speculative_tokens":5}'}
DSV41_SPEC_SCHEDULE=${DSV41_SPEC_SCHEDULE:-1-2:5,3-4:4}   # batch 1-2: K5, batch 3-4: K4
DSV41_ADAPTIVE_MARGIN=${DSV41_ADAPTIVE_MARGIN:-1}
DSV41_ADAPTIVE_MIN=${DSV41_ADAPTIVE_MIN:-2}
DSV41_ADAPTIVE_HI=${DSV41_ADAPTIVE_HI:-1.6}
DSV41_ADAPTIVE_MAXREQ=${DSV41_ADAPTIVE_MAXREQ:-4}

# ---- remote worker ----------------------------------------------------------
DSV41_WORKER_ENDPOINT=${DSV41_WORKER_ENDPOINT:-o1rdma://10.202.28.1:18620}
DSV41_WORKER_TIMEOUT_MS=${DSV41_WORKER_TIMEOUT_MS:-50}
DSV41_WORKER_ROUND_MS=${DSV41_WORKER_ROUND_MS:-28.79,31.86,34.44,37.76,41.56,43.68}
DSV41_WORKER_DRAFT_MS=${DSV41_WORKER_DRAFT_MS:-4.4}

# ---- engram -----------------------------------------------------------------
DSV41_ENGRAM_LINKS=${DSV41_ENGRAM_LINKS:-rocep1s0f1,roceP2p1s0f1}
DSV41_ENGRAM_TIMEOUT_MS=${DSV41_ENGRAM_TIMEOUT_MS:-100}
DSV41_ENGRAM_RETRY_MS=${DSV41_ENGRAM_RETRY_MS:-5000}
DSV41_ENGRAM_LOG_S=${DSV41_ENGRAM_LOG_S:-60}
DSV41_ENGRAM_REQUIRED=${DSV41_ENGRAM_REQUIRED:-0}         # 0: production may fall back to local tables

# ---- experiments, all off in production -------------------------------------
DSV41_SPLIT=${DSV41_SPLIT:-0}
DSV41_VOR=${DSV41_VOR:-0}
DSV41_DUAL_RING=${DSV41_DUAL_RING:-0}
DSV41_CPU_PIN=${DSV41_CPU_PIN:-0}
"""

SERVE_SH = """\
#!/usr/bin/env bash
# Start the serving container of one rank. Called by start.sh on each node.
set -euo pipefail

rank=${1:?usage: serve.sh RANK}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=dsv41.env
source "$here/dsv41.env"

address=$(ip -4 -o addr show dev "$FABRIC_IF" | awk '{split($4, a, "/"); print a[1]; exit}')
bind=$(ip -4 -o route get 10.202.28.1 | sed -n 's/.* src \\([0-9.]*\\).*/\\1/p')

pass=()
for name in $(compgen -v | grep -E '^(DSV41|K1|NCCL|EXL3)_|^MAX_BATCH$'); do
  pass+=(-e "$name=${!name}")
done

exec docker run -d --name "$CONTAINER" --gpus all --network host --ipc host \\
  --device /dev/infiniband --cap-add IPC_LOCK --ulimit memlock=-1 --restart no \\
  -v /srv/dsv41:/srv/dsv41:ro -v "$K1_DIR":/opt/dsv41/k1:ro \\
  -v "$CACHE_DIR":/var/cache/dsv41 -v "$LOG_DIR":/var/log/dsv41 \\
  -e VLLM_HOST_IP="$address" -e DSV41_WORKER_BIND="$bind" -e CUDA_MODULE_LOADING=LAZY \\
  -e DSV41_FABRIC_INTERFACE="$FABRIC_IF" -e DSV41_FABRIC_DEVICE="$FABRIC_DEV" \\
  "${pass[@]}" "$IMAGE" \\
  serve "$CHECKPOINT" --tensor-parallel-size "$TP_SIZE" --nnodes 2 --node-rank "$rank" \\
  --master-addr "$HEAD_ADDR" --max-model-len "$MAX_MODEL_LEN" \\
  --kv-cache-memory-bytes "$KV_CACHE_BYTES" --max-num-seqs "$MAX_NUM_SEQS" \\
  --long-prefill-token-threshold "$PREFILL_THRESHOLD" --scheduling-policy "$SCHED_POLICY" \\
  --speculative-config "$SPEC_CONFIG" ${EXTRA_ARGS:+$EXTRA_ARGS}
"""

START_SH = """\
#!/usr/bin/env bash
# Start both ranks: the peer first, then this node.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=dsv41.env
source "$here/dsv41.env"

mkdir -p "$LAUNCH_STATE"
env | grep -E '^(DSV41|K1|NCCL|EXL3)_' | sort > "$LAUNCH_STATE/inherited.env" || true

ssh "$PEER_HOST" "cd dsv41-deploy && ./serve.sh 1"
"$here/serve.sh" 0

for _ in $(seq 1 180); do
  curl -fsS "http://$HEAD_ADDR:8000/health" > /dev/null 2>&1 && exit 0
  sleep 5
done
echo "no answer from rank 0 after 15 minutes; see docker logs $CONTAINER" >&2
exit 1
"""

README_MD = """\
# dsv41-deploy

Two Spark nodes serve one model. `dsv41.env` holds the defaults, `serve.sh`
starts one rank, `start.sh` starts both. Production is what a `prod-*` tag names.
"""

GITIGNORE = """\
*.log
*.local.env
"""

TRACKED: dict[str, tuple[str, int]] = {
    ".gitignore": (GITIGNORE, 0o100644),
    "README.md": (README_MD, 0o100644),
    "dsv41.env": (DSV41_ENV, 0o100644),
    "serve.sh": (SERVE_SH, 0o100755),
    "start.sh": (START_SH, 0o100755),
}

_UP2_HEAD = """\
# Composed UP2 wrapper: what the experiment sets over the production defaults.
UP2=1
DSV41_CHECKPOINT=/srv/dsv41/legal-v2a
DSV41_WORKER_COMMIT=fb68c5291792ab90c0f468bd94010917967799f3
DSV41_WORKER_HELLO_CHECKPOINT=be2c1436fa9f9e66b398e1b1da2e140e6fddc82a11939e2ac4240a0ca79543bd
DSV41_WORKER_HELLO_MARKOV=0b6e71e638abd5abce2db433965bb5ff523cbbe92ed7ae54324a50ccaeffa19a
DSV41_ENGRAM_REQUIRED=1
DSV41_REPLAY=0
DSV41_AUDIT=0
K1_PAIR=3
K1_DROP_MTP=1
K1_TRANSIENT=1
K1_ALIAS=1
"""

UP2_ENV = _UP2_HEAD + "K1_INDEXER_FACTOR=8\n"
UP2_LOW_K1_ENV = _UP2_HEAD + "K1_INDEXER_FACTOR=4\n# low cap: the floor is 3 GiB\nUP2_LOW_CAP=1\n"
