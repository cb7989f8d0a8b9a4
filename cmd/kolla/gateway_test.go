package main

import (
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// gatewayAPI installs the kinds of the Gateway API, from its Go module, until the script ends. The
// cluster gets no controller of them.
func gatewayAPI(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: gatewayapi")
	}
	source, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	ts.Check(err)
	var files []string
	for _, kind := range []string{"gateways", "httproutes", "referencegrants"} {
		files = append(files, "-f="+filepath.Join(strings.TrimSpace(string(source)), "config", "crd", "standard", "gateway.networking.k8s.io_"+kind+".yaml"))
	}
	kubectl := func(args ...string) { ts.Check(ts.Exec("kubectl", append(args, files...)...)) }
	kubectl("apply", "--server-side")
	ts.Defer(func() { kubectl("delete") })
	kubectl("wait", "--for=condition=Established", "--timeout=60s")
}
