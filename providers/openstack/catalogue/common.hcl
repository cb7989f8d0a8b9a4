# What definitions of the catalogue have in common: option groups, merged with what each
# service says itself.
locals {
  # [uwsgi] of an API, beside http-socket and module. A process answers one request at a time, as
  # most APIs need; package uwsgi has the reasons.
  uwsgi = {
    plugins-dir    = startswith(cloud.distro, "debian") || startswith(cloud.distro, "ubuntu") ? "/usr/lib/uwsgi/plugins" : "/usr/lib64/uwsgi"
    plugins        = "python3"
    processes      = 4
    threads        = 1
    master         = true
    lazy-apps      = true
    enable-threads = true
    thunder-lock   = true
    die-on-term    = true
    # Requests that are being answered when the pod is told to stop are finished.
    hook-master-start = "unix_signal:15 gracefully_kill_them_all"
    buffer-size       = 65535
    socket-timeout    = 30 # for slow clients; the default is 4 seconds
    # A process that answers one request for so many seconds is replaced. The proxy gives up
    # after 5 minutes.
    harakiri         = 360
    harakiri-verbose = true
    # Where the service cannot be loaded the pod ends, and its log says why.
    need-app = true
    # uWSGI logs in one line that a client went away. Its exception in the service would be logged as
    # CRITICAL, with no other effect.
    disable-write-exception = true
    # http-socket closes each connection after the answer. Clients that do not know send
    # the next request into it.
    add-header = "Connection: close"
  }

  # With a URL: the command of a liveness probe. Any answer will do, also an error, because no
  # restart brings back a database. It has to fail for longer than harakiri, which replaces the
  # processes that hang.
  alive = ["curl", "-q", "--silent", "--noproxy", "*", "--output", "/dev/null", "--max-time", "55"]

  # With part of the command line of a process and a port: the command of a probe that asks whether
  # the process is connected to that port. healthcheck_port of Kolla's images also counts a socket
  # whose packets nobody answers.
  connected = ["sh", "-ec", file("${path.module}/connected.sh"), "connected"]

  # With a program and its arguments: the command of a job that checks an upgrade. Code 2 means that the
  # cloud is not ready, and that somebody has to act first. After 255 the job may try again.
  check = ["python3", "-c", file("${path.module}/check.py")]

  # [database] beside the connection.
  database = {
    connection_recycle_time = 10
    max_pool_size           = 1
    max_overflow            = 64 # for daemons, which have many threads
    max_retries             = -1
    # A database whose node lost its power closes no connection, and kernels send again for
    # 15 minutes. The limit is above innodb_lock_wait_timeout, and holds for each statement.
    connection_parameters = "read_timeout=60"
  }

  # Options with which Nova works beside an older release.
  nova_pins = {
    "upgrade_levels.compute"                            = "auto"
    "upgrade_levels.conductor"                          = ""
    "upgrade_levels.scheduler"                          = ""
    "upgrade_levels.baseapi"                            = ""
    "workarounds.disable_compute_service_check_for_ffu" = "false"
  }

  # As sh -c, runs a command that may open many files. A container may start with 1024.
  many_files = "ulimit -S -n 65535 2> /dev/null || ulimit -S -n \"$(ulimit -H -n)\"; exec \"$@\""

  # As sh -ec, runs an exporter for the member with the number of its own pod.
  exporter = ["sh", "-ec", file("${path.module}/exporter.sh"), "exporter"]

  # [database] of jobs that change tables, over the above: a statement may take hours.
  database_unlimited = { connection_parameters = null }

  # [oslo_messaging_rabbit] of an API under uWSGI, beside what the queue says. Its workers
  # sleep between requests, and RabbitMQ would miss their heartbeats. Other processes must
  # not have it. From 2026.2 on all processes have threads of their own for that, and no option.
  rabbit_uwsgi = cloud.release < 2026.2 ? { heartbeat_in_pthread = true } : {}

  # Daemons of Nova that are told to stop finish their work first: from 2026.2 on for up to 180
  # seconds. Those of 2026.1 sleep, also with nothing to do, for 160 seconds by default.
  nova_grace_period     = cloud.release >= 2026.2 ? 200 : 90
  nova_shutdown_timeout = cloud.release >= 2026.1 && cloud.release < 2026.2 ? 60 : null

  # Environment of processes with a queue that read no lock_path of oslo.concurrency from their
  # configuration. Names of queues are given out with a lock.
  locks = { OSLO_LOCK_PATH = "/tmp" }

  # [oslo_policy]. Readers, members and managers of a project are the same in all services. By their
  # former defaults, still in force in Cinder and Barbican up to 2026.1, a reader may create volumes.
  oslo_policy = { enforce_new_defaults = true }

  # What collectors of logs have in common. In the mode sidecar the end of a file's name says how its
  # records begin: NAME.oslo.log, NAME.slow.log (slow queries of MariaDB), NAME.out.log. Lines of a
  # trace by oslo.log begin as records do, but without the identifiers in brackets.
  log_starts = {
    oslo = "^([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:.]+ [0-9]+ [A-Z]+ [^ ]+ .(None |req-|- |-]|[0-9a-f-]{36} )|[^0-9[:space:]])"
    slow = "^# User@Host: "
    out  = "^[^[:space:]]"
  }

  # The environment of programs with oslo.log. kolla replaces CONTAINER by the name of the container.
  log_environment = cloud.logging == "sidecar" ? { OS_DEFAULT__LOG_FILE = "/var/log/kolla/CONTAINER.oslo.log" } : {}

  # Secrets in texts: what stands before and after them, and how many groups both have. Extended regular
  # expressions of POSIX, which Ruby reads the same way, in upper and lower case. A backslash in brackets
  # is written twice, as Ruby wants. A masked secret does not match.
  log_secret_words = [
    "password", "passwd", "pswd", "passphrase", "secret", "token", "signature", "temp_url_sig", "cookie",
    "(admin|new|old|user)_?pass", "(api|auth|secret|private|encrypted|encryption|access|fernet|ssl|account)_?key",
    "secret_?uuid", "configdrive", "swift_?hash_?suffix", "keystone_?credential", "barbican_?simple_?crypto_?kek",
    "(octavia_?heartbeat|pacemaker_?remote_?auth|designate_?rndc|migration_?ssh|ceph_?[a-z]+)_?key", "ceph_?cluster_?fsid",
  ]
  # A word and a sign, an option of a command, or a password in SQL: nine groups, with its own brackets.
  log_secret_place = join("|", [
    "(${join("|", local.log_secret_words)})[0-9]*\\\\*[\"']?[[:space:]]*([:=]|%3[ad])[[:space:]]*\\[?",
    "--[a-z0-9_-]{0,30}(pass|secret|token)[a-z0-9_-]{0,30}[\"']?,?[[:space:]]+",
    "identified[[:space:]]+[a-z0-9_[:space:]]*(by|as|using)[[:space:]]+(password[[:space:]]*[(][[:space:]]*)?",
  ])
  # Between quotes, between the quotes of JSON in a text of JSON, and without quotes: what opens the secret, a character
  # that may begin it, and a further one, with the number of groups of both.
  log_secret_forms = [
    {
      open   = "[bu]?\""
      first  = "[^\"*\\\\]|\\\\."
      next   = "[^\"\\\\]|\\\\."
      groups = 0
    },
    {
      open   = "[bu]?'"
      first  = "[^'*\\\\]|\\\\."
      next   = "[^'\\\\]|\\\\."
      groups = 0
    },
    {
      open   = "\\\\+[\"']"
      first  = "[^\"'*\\\\]|\\\\\\\\(\\\\.)?"
      next   = "[^\"'\\\\]|\\\\\\\\(\\\\.)?"
      groups = 3
    },
    {
      open   = ""
      first  = "[^[:space:]\"'*,;&(){}\\\\\\[]"
      next   = "[^[:space:]\"',;&(){}]"
      groups = 0
    },
  ]
  # In a URL, which may name several servers; in a header; a key in PEM.
  log_secret_others = [
    {
      before = "(://|,)[^[:space:]/@:,\"']*:"
      first  = "[^[:space:]/@*\"']"
      next   = "[^[:space:]/@\"']"
      after  = "@"
      groups = 1
    },
    {
      before = "authorization[\"']?: *[\"']?(Basic|Bearer|Negotiate) +"
      first  = "[^[:space:]\"'*]"
      next   = "[^[:space:]\"']"
      after  = ""
      groups = 1
    },
    {
      before = "-----BEGIN [A-Z ]*PRIVATE KEY-----"
      first  = "[^*-]|-[^-]"
      next   = "[^-]|-[^-]"
      after  = ""
      groups = 0
    },
  ]
  log_secrets = concat(
    [{
      before = ""
      secret = "gAAAAA[A-Za-z0-9_=-]{20,}"
      after  = ""
      groups = 0
    }],
    [for s in concat(
      [for f in local.log_secret_forms : merge(f, {
        before = "(${local.log_secret_place})${f.open}"
        after  = ""
        groups = f.groups + 9
      })],
      local.log_secret_others) : {
      before = s.before
      secret = "([*]{0,2}(${s.first})|[*]{3}(${s.next}))(${s.next})*"
      after  = s.after
      groups = s.groups + 4
  }])
}
