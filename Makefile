# kolla: everything a developer or CI runs. `make help` lists the targets.

VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0-dev)
LDFLAGS    = -s -w -X kolla.openstack.org/kolla/internal/cli.Version=$(VERSION)
PACKAGES  := ./...
FUZZTIME  ?= 30s
BENCHTIME ?= 1x
# How many objects make bench measures with, each size on its own.
BENCH_SIZES ?= 100 200 1000 5000
# A git revision of kolla that make bench measures, too.
BENCH_VS ?=
# Names of tools, if make bench is not to measure all of them.
BENCH_ONLY ?=
# No VCS stamp and no toolchain download: a build is the same in a checkout, in a
# worktree, and from an archive.
export GOFLAGS := -buildvcs=false
export GOTOOLCHAIN := local

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: export CGO_ENABLED = 0
build: ## build bin/kolla
	@mkdir -p bin
	@echo 'Building kolla.'
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/kolla ./cmd/kolla

devcluster: bin/kolla-devcluster ## build bin/kolla-devcluster, the local cluster (the first time compiles Kubernetes: minutes)

DEVCLUSTER_SOURCES := $(shell find internal/dev/devcluster -type f ! -name '*_test.go' ! -name '*.md' ! -path '*/testdata/*')

bin/kolla-devcluster: $(DEVCLUSTER_SOURCES)
	@mkdir -p bin
	@internal/dev/devcluster/build bin/kolla-devcluster

devnode: bin/node/kolla-devnode ## build bin/node, what the real nodes of the local cluster run (as root: installs packages)

COMPILE := internal/dev/devcluster/compile

# Static programs are for images that hold nothing else.
STATIC := -linkmode external -extldflags "-static -Wl,--no-warnings"

bin/node/kolla-devnode: $(DEVCLUSTER_SOURCES)
	@internal/dev/devcluster/packages
	@mkdir -p bin/node/cni bin/node/images
	@echo "Building what real nodes run: kubelet, containerd, runc, CNI plugins, CoreDNS, from source."
	@echo "The first build takes some minutes; later ones are cached."
	$(COMPILE) bin/node/ -ldflags '-s -w' \
	  github.com/containerd/containerd/v2/cmd/containerd github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2
	$(COMPILE) bin/node/ -ldflags '-s -w' -tags seccomp github.com/opencontainers/runc
	$(COMPILE) bin/node/cni/ -ldflags '-s -w' \
	  $(addprefix github.com/containernetworking/plugins/plugins/,main/bridge main/loopback ipam/host-local meta/portmap)
	$(COMPILE) bin/node/images/pause -ldflags '-s -w $(STATIC)' ./pause
	$(COMPILE) bin/node/images/coredns -ldflags '-s -w $(STATIC)' ./dns
	$(COMPILE) bin/node/kolla-devnode -ldflags "$$(cat internal/dev/devcluster/ldflags)" ./devnode

images: devnode ## make bin/images, container images from Debian packages, for real nodes (as root)
	cd internal/dev/devimages && go build -o ../../../bin/kolla-devimages .
	bin/kolla-devimages build -out bin/images -binaries bin/node/images
	bin/kolla-devimages unpack -out bin/images -to bin/outside ceph chromium haproxy keepalived kolla-toolbox rsyslog tempest

# Debian bookworm has the programs around OpenStack of some of Kolla's images. test-upgrade upgrades clouds to the others.
MORE := 2025.1-bookworm 2026.1 2026.2

images-more: ## make bin/images-RELEASE, container images of another distribution and of later releases (as root)
	@mkdir -p bin
	cd internal/dev/devimages && go build -o ../../../bin/kolla-devimages .
	for release in $(MORE); do bin/kolla-devimages build -release $$release -out bin/images-$$release || exit 1; done

demo: build devcluster ## plan and apply a cloud on a local cluster, then show drift
	@./internal/dev/demo/run

demo-real: build devcluster images ## bring up a cloud that really answers, on real nodes (as root)
	@./internal/dev/demo/run-real

# In the reverse order the longest package, providers/openstack, begins early.
test-fast: ## run the tests of the product that need no cluster (about a minute, once they are built)
	go test -short -ldflags='-s -w' -p $(AT_ONCE) $$($(IMPORTS) | grep -v 'internal/dev/clustertest\|^[^ ]*internal/dev/' | cut -d' ' -f1 | sort -r)

# Some tests wait, so that there are more packages at once than there may be processors.
AT_ONCE = $$(($$(getconf _NPROCESSORS_ONLN) + 1))

# IMPORTS prints each package of PACKAGES with what its tests import.
IMPORTS = go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' $(PACKAGES)

# REPORT runs go test, and notes what its tests said in bin/tests/NAME.json. Without debug
# information a program is linked in half of the time. Tests with a cluster take longest, so that
# they begin first.
REPORT = go tool -modfile=$(CURDIR)/internal/dev/tools/gotestsum/go.mod gotestsum --format pkgname --format-hide-empty-pkg --hide-summary skipped --jsonfile $(CURDIR)/bin/tests/$(1).json -- -ldflags='-s -w' -timeout 40m

test: devcluster ## run all tests that need no real nodes
	@internal/dev/devcluster/tools
	@rm -rf bin/tests; mkdir -p bin/tests
	@$(MAKE) --no-print-directory -j2 test-module test-other-modules
	@$(MAKE) --no-print-directory not-run

test-module:
	@$(call REPORT,kolla) -p $(AT_ONCE) $$($(IMPORTS) | grep internal/dev/clustertest | cut -d' ' -f1) $$($(IMPORTS) | grep -v 'internal/dev/clustertest\|^[^ ]*internal/dev/arch ' | cut -d' ' -f1)
	@$(call REPORT,arch) -count=1 ./internal/dev/arch # go test would not see a new file

# The tests of the local cluster mostly wait.
test-other-modules:
	@cd internal/dev/devimages && $(call REPORT,devimages) ./...
	@cd internal/dev/devcluster && KOLLA_DEVCLUSTER=$(CURDIR)/bin/kolla-devcluster $(call REPORT,devcluster) -count=1 ./...

not-run: ## list the tests that make test could not run, and why
	@sed -n 's/.*"Test":"\([^"]*\)".*\(NOT RUN: .*\)\\n"}$$/\2 (\1)/p' bin/tests/*.json | sort

test-smoke: build images ## start servers on real nodes, and remove them again (as root)
	PATH="$(CURDIR)/internal/dev/devimages/programs:$$PATH" go test -count=1 ./providers/haproxy ./providers/keepalived
	PATH="$(CURDIR)/internal/dev/devimages/programs:$$PATH" go test -count=1 -run TestCollectors ./providers/openstack
	KOLLA_REAL=1 go test -count=1 -v -timeout 30m -run TestSmoke ./internal/dev/realcloud

IMAGES_TEST := KOLLA_DEVIMAGES_CACHE=$${XDG_CACHE_HOME:-$$HOME/.cache}/kolla-devimages go test -count=1 -timeout 60m ./acceptance

test-images: ## build all images and start what is in them (as root)
	cd internal/dev/devimages && KOLLA_DEVIMAGES_ACCEPTANCE=all $(IMAGES_TEST)

test-real: devcluster images ## run all tests on real nodes, with real OpenStack daemons (as root)
	@$(MAKE) --no-print-directory -j2 test-nodes test-cloud
	@$(MAKE) --no-print-directory test-services
	@$(MAKE) --no-print-directory test-members
	@$(MAKE) --no-print-directory test-state

# test-services starts what is in the images that are not named here.
test-nodes: devcluster images
	cd internal/dev/devimages && KOLLA_DEVIMAGES_ACCEPTANCE="haproxy keepalived keystone kolla-toolbox mariadb-server memcached rabbitmq valkey-sentinel valkey-server" $(IMAGES_TEST)
	KOLLA_REAL=1 go test -count=1 -v -timeout 40m -run "TestRabbitMQ(Members|Grows)|TestValkeyMembers" ./providers/openstack
	cd internal/dev/devcluster && KOLLA_REAL=1 KOLLA_DEVCLUSTER=$(CURDIR)/bin/kolla-devcluster go test -count=1 -timeout 40m -run TestReal ./acceptance

test-cloud: build images
	@$(MAKE) --no-print-directory image IMAGE_TARGETS=linux/$$(go env GOARCH)
	KOLLA_REAL=1 go test -count=1 -v -timeout 120m -run "TestCloud|TestMetrics|TestLogging|TestVIP|TestValkey|TestHelm|TestOperator" ./internal/dev/realcloud

test-services: build images
	KOLLA_REAL=1 go test -count=1 -v -timeout 110m -run "TestServices|TestOVNCluster|TestShapes|TestBackup|TestRestore" ./internal/dev/realcloud

test-state: build devcluster images ## break services that keep state on real nodes, while clients write (as root)
	KOLLA_REAL=1 go test -count=1 -v -timeout 150m -run TestState ./internal/dev/realcloud

test-check: build devcluster images ## break a cloud in five ways on real nodes, and see what kolla check says (as root)
	KOLLA_REAL=1 go test -count=1 -v -timeout 120m -run TestCheck ./internal/dev/realcloud

test-upgrade: build devcluster images images-more ## upgrade clouds with servers to later releases, on real nodes (as root)
	KOLLA_REAL=1 go test -count=1 -v -timeout 150m -run TestUpgrade ./internal/dev/realcloud
	KOLLA_REAL=1 KOLLA_TEST_RELEASE=2026.2 go test -count=1 -v -timeout 30m -run TestSmoke ./internal/dev/realcloud

test-bookworm: build devcluster images images-more ## the programs around OpenStack of Kolla's images of Debian bookworm, on real nodes (as root)
	KOLLA_REAL=1 KOLLA_TEST_RELEASE=2025.1-bookworm go test -count=1 -v -timeout 150m -run "TestVIP|TestOVNCluster|TestState" ./internal/dev/realcloud

# TEMPEST chooses tests of Tempest: empty, those that the interop guideline requires; all; or a regular
# expression. TEMPEST_CLUSTER is the directory of a cluster whose cloud runs already. TEMPEST_HOLD keeps the cloud.
TEMPEST ?=
TEMPEST_CONCURRENCY ?= 2
TEMPEST_CLUSTER ?=
TEMPEST_HOLD ?=
TEMPEST_TIMEOUT ?= $(if $(TEMPEST_HOLD),0,$(if $(TEMPEST),6h,2h))

test-tempest: build devcluster images ## run OpenStack's own tests on real nodes (as root); docs/tempest.md names the choices
	go test -count=1 ./internal/run/tempest
	KOLLA_REAL=1 KOLLA_TEMPEST='$(TEMPEST)' KOLLA_TEMPEST_CONCURRENCY=$(TEMPEST_CONCURRENCY) KOLLA_TEMPEST_HOLD='$(TEMPEST_HOLD)' \
	  KOLLA_TEMPEST_CLUSTER='$(abspath $(TEMPEST_CLUSTER))' go test -count=1 -v -timeout $(TEMPEST_TIMEOUT) -run TestTempest ./internal/dev/realcloud

test-members: images ## members of clusters without Kubernetes: power cuts, lost volumes, kills (as root)
	KOLLA_REAL=1 go test -count=1 -v -timeout 60m ./internal/dev/members

# Browsers, a load balancer, an Ingress controller, cert-manager, the programs that read what kolla writes, and the monitoring that scrapes it.
test-others: build devcluster images
	KOLLA_METALLB=1 KOLLA_TRAEFIK=1 go test -count=1 -v -timeout 90m -run "TestMetalLB|TestTraefik|TestCertManager" ./internal/cli/live
	KOLLA_METALLB=1 KOLLA_REAL=1 go test -count=1 -v -timeout 40m -run "TestBalancer|TestModes" ./internal/dev/realcloud
	KOLLA_CHROMIUM=$(CURDIR)/bin/outside go test -count=1 -v -timeout 20m -run TestBrowser ./internal/present/view
	cd internal/dev/consumers && go test -count=1 ./... # go test would not see that docs or an example changed
	cd internal/dev/monitoring && go test -count=1 -timeout 40m ./...

test-all: export KOLLA_TEST_LONG = 1
test-all: test test-others test-real test-check test-tempest test-race soak release-check ## run everything, as before a release (as root, hours)

# Packages whose code runs in several goroutines, one at a time: the race detector takes
# several times the memory and the time. TestReadBombs bounds memory.
RACE_PACKAGES ?= ./internal/base/dag ./state/... ./internal/present/drift ./internal/run/notify ./providers ./planner ./planner/proof ./internal/present/view ./internal/run/executor ./providers/kubernetes/...

test-race: devcluster ## run the tests of RACE_PACKAGES with the race detector (needs a C compiler; some minutes)
	@for package in $(RACE_PACKAGES); do \
	  CGO_ENABLED=1 go test -race -timeout 20m -skip '^TestReadBombs$$' $$package || exit 1; \
	done

check: lint vulnerabilities test ## everything that must hold before a change lands

lint: ## formatting, vet, staticcheck, golangci-lint, actionlint, dead code
	@unformatted=$$(go tool gofumpt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "run make fmt: $$unformatted"; exit 1; }
	go vet $(PACKAGES)
	cd internal/dev/devcluster && go vet ./...
	cd internal/dev/devimages && go vet ./...
	cd internal/dev/peers && go vet ./...
	cd internal/dev/consumers && go vet ./...
	cd internal/dev/monitoring && go vet ./...
	go tool staticcheck $(PACKAGES)
	go tool -modfile=internal/dev/tools/go.mod golangci-lint run
	cd internal/dev/devimages && go tool -modfile=../tools/go.mod golangci-lint run
	go tool -modfile=internal/dev/tools/actionlint/go.mod actionlint -shellcheck= -pyflakes=
	@dead=$$(go tool -modfile=internal/dev/tools/go.mod deadcode -test $(PACKAGES)) && test -z "$$dead" || { echo "$$dead"; exit 1; }

fmt: ## format the Go code
	go tool gofumpt -w $$(git ls-files '*.go')

oslo-tables: ## make the tables of config options anew, from Debian packages (as root: unpacks 3 GB)
	go run ./internal/dev/oslotables

vulnerabilities: ## look for known vulnerabilities in what bin/kolla is made of; GOVULNDB may name a mirror of the database
	@internal/dev/tools/vulnerabilities

golden: devcluster ## write golden files, the references and the notices anew
	go test ./lang ./providers ./planner/plans ./state ./providers/openstack ./providers/openstack/options ./providers/haproxy ./internal/present/drift ./internal/present/view ./internal/cli ./internal/cli/notices ./internal/run/tempest -update

fuzz: ## fuzz every parser, each for FUZZTIME (30s)
	@for package in $$(go list $(PACKAGES)); do \
	  for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
	    echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x $$package || exit 1; \
	  done; \
	done

SOAKS ?= 10
soak: devcluster ## compare plans with the server after other random changes than in make test, SOAKS times (10)
	KOLLA_TEST_STEPS=2000 KOLLA_TEST_SEED=random go test -count=$(SOAKS) -timeout 0 -run TestDifferential ./planner/live

bench: build devcluster ## measure kolla beside its peers with BENCH_SIZES objects, and write docs/performance.md
	@mkdir -p bin/peers
	@echo 'Building the peers: Helm, OpenTofu, and a client that does the least that can be done.'
	cd internal/dev/peers && go build -o ../../../bin/peers/ helm.sh/helm/v4/cmd/helm ./floor ./bench
	cd internal/dev/peers/tofu && go build -o ../../../../bin/peers/ github.com/opentofu/opentofu/cmd/tofu
	cd internal/dev/peers/tofu-provider && go build -o ../../../../bin/peers/ github.com/hashicorp/terraform-provider-kubernetes
	cd internal/dev/peers && ../../../bin/peers/bench -sizes '$(BENCH_SIZES)' -vs '$(BENCH_VS)' -only '$(BENCH_ONLY)' -note '$(BENCH_NOTE)' -out ../../../docs/performance.md

bench-go: devcluster ## run the benchmarks of the Go packages
	go test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem $(PACKAGES)

PROFILE_SIZE ?= 5000
PROFILE_RUNS ?= 10
profile: devcluster ## profile plans of PROFILE_SIZE objects (1000 or 5000) in which nothing changed
	@mkdir -p bin/profile
	go test -run '^$$' -bench 'BenchmarkUnchangedPlan/^$(PROFILE_SIZE)$$/^plan$$' -benchtime $(PROFILE_RUNS)x -benchmem -o bin/profile/live.test \
	  -cpuprofile bin/profile/cpu.out -memprofile bin/profile/memory.out -trace bin/profile/trace.out ./planner/live
	@printf '%s\n' 'To look at it:' \
	  '  go tool pprof -http=: -focus=planner.Make bin/profile/live.test bin/profile/cpu.out' \
	  '  go tool pprof -http=: -sample_index=alloc_space -focus=planner.Make bin/profile/live.test bin/profile/memory.out' \
	  '  go tool trace bin/profile/trace.out'

# For which systems kolla is published.
TARGETS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
DIST    ?= dist

release: ## build what is published of VERSION into dist: archives for TARGETS, lists of modules, checksums
	go run ./internal/dev/release -version '$(VERSION)' -ldflags '$(LDFLAGS)' -targets '$(TARGETS)' -out '$(DIST)'

generate: ## make the definitions of the operator's objects, and their deep copies, from the Go types
	go tool -modfile=internal/dev/tools/go.mod controller-gen object crd:crdVersions=v1 paths=./internal/operator/v1alpha1 output:crd:dir=internal/operator/v1alpha1/crds

IMAGE_TARGETS ?= $(filter linux/%,$(TARGETS))
image: ## write bin/kolla-image.tar, a container image with nothing but kolla, for IMAGE_TARGETS
	@mkdir -p bin
	go run ./internal/dev/release -version '$(VERSION)' -ldflags '$(LDFLAGS)' -targets '$(IMAGE_TARGETS)' -image bin/kolla-image.tar

# The second build has another directory and a cache of its own, as on another machine.
release-check: ## build the release twice, in two directories, and fail where the checksums differ
	@set -e; both=$$(mktemp -d); trap 'rm -rf "$$both"' EXIT; \
	for copy in one two/in-a-longer-path; do \
	  mkdir -p "$$both/$$copy"; git ls-files -z | tar -c --null -T - -f - | tar -x -C "$$both/$$copy" -f -; \
	done; \
	$(MAKE) --no-print-directory -C "$$both/one" release VERSION='$(VERSION)' TARGETS='$(TARGETS)'; \
	GOCACHE="$$both/cache" $(MAKE) --no-print-directory -C "$$both/two/in-a-longer-path" release VERSION='$(VERSION)' TARGETS='$(TARGETS)'; \
	diff "$$both/one/dist/SHA256SUMS" "$$both/two/in-a-longer-path/dist/SHA256SUMS"; \
	cat "$$both/one/dist/SHA256SUMS"; echo 'Both builds are the same.'

clean: ## remove what was built, and the clusters of the demos
	@for demo in .demo .demo-real; do \
	  if test -d $$demo/cluster && test -x bin/kolla-devcluster; then bin/kolla-devcluster down -dir $$demo/cluster || exit 1; fi; \
	done
	rm -rf bin dist .demo .demo-real

.PHONY: help build devcluster devnode images images-more demo demo-real test-fast test test-smoke test-real test-nodes test-cloud test-services test-state test-check test-members test-upgrade test-bookworm test-tempest test-others test-all test-images not-run test-race check lint vulnerabilities fmt oslo-tables golden fuzz bench bench-go profile release generate image release-check clean
