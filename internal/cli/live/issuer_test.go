package live_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"kolla.openstack.org/kolla/internal/dev/certmanager"
	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/traefik"
)

// issuers are manifests of a configuration: a CA of cert-manager's own, and an ACME server.
const issuers = `manifest "own" {
  object = {
    apiVersion = "cert-manager.io/v1"
    kind       = "Issuer"
    metadata   = { name = "own" }
    spec       = { selfSigned = {} }
  }
}
manifest "ca" {
  object = {
    apiVersion = "cert-manager.io/v1"
    kind       = "Certificate"
    metadata   = { name = "ca" }
    spec = {
      isCA       = true
      commonName = "a CA"
      secretName = "ca"
      issuerRef  = { name = "own" }
    }
  }
}
manifest "signer" {
  object = {
    apiVersion = "cert-manager.io/v1"
    kind       = "Issuer"
    metadata   = { name = "signer" }
    spec       = { ca = { secretName = "ca" } }
  }
}
manifest "acme" {
  object = {
    apiVersion = "cert-manager.io/v1"
    kind       = "Issuer"
    metadata   = { name = "acme" }
    spec = {
      acme = {
        server              = "DIRECTORY"
        caBundle            = "BUNDLE"
        privateKeySecretRef = { name = "acme-account" }
        solvers             = [{ http01 = { ingress = { ingressClassName = "traefik" } } }]
      }
    }
  }
}
`

// TestCertManager applies a cloud whose certificate is the job of cert-manager: from a CA, and from an ACME server
// whose challenges go through Traefik.
func TestCertManager(t *testing.T) {
	if os.Getenv("KOLLA_TRAEFIK") == "" {
		t.Skip("NOT RUN: Traefik and cert-manager take minutes to build; run make test-others")
	}
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	entry := traefik.Install(t, clustertest.Kubeconfig(), clustertest.Kubectl)
	acme := certmanager.StartACME(t, entry.HTTP, "three.cloud.example.org")
	certmanager.Install(t, clustertest.Kubeconfig(), fmt.Sprintf("http://%s:%d", traefik.Address, entry.HTTP), clustertest.Kubectl)
	entry.Start(t, traefik.Ingresses, traefik.WritesAddress)
	const namespace = "t-cert-manager"
	b := newBackends(t, "one", "two")
	solve(t, namespace, b.address)
	t.Chdir(t.TempDir())
	write := func(issuer string) {
		text := b.cloud(namespace, strings.NewReplacer("PORT", strconv.Itoa(entry.HTTPS), "ISSUER", issuer).Replace("mode = \"ingress\"\n  class = \"traefik\"\n  port = PORT\n  tls { issuer = \"ISSUER\" }"))
		text += strings.NewReplacer("DIRECTORY", acme.Directory, "BUNDLE", acme.Bundle).Replace(issuers)
		if err := os.WriteFile("cloud.hcl", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	answers := func(t *testing.T, ca *x509.CertPool) {
		t.Helper()
		b.takeOver(t, namespace)
		for _, name := range []string{"one", "two"} {
			host := fmt.Sprintf("%s.cloud.example.org:%d", name, entry.HTTPS)
			entryClient{ca, traefik.Address}.says(t, "https://"+host+"/", fmt.Sprintf("%s at %s by https", name, host))
		}
	}
	secret := func(name, key string) string {
		return clustertest.Kubectl(t, "-n", namespace, "get", "secret", name, "-o", fmt.Sprintf(`go-template={{index .data %q | base64decode}}`, key))
	}
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")

	t.Run("a CA", func(t *testing.T) {
		write("signer")
		kolla(t, "apply", "-auto-approve", "-timeout=120s")
		ca := x509.NewCertPool()
		if !ca.AppendCertsFromPEM([]byte(secret("ca", "tls.crt"))) {
			t.Fatal("cert-manager made no CA")
		}
		answers(t, ca)
		unchanged(t)
	})
	t.Run("ACME", func(t *testing.T) {
		write("acme")
		kolla(t, "apply", "-auto-approve", "-timeout=180s")
		answers(t, acme.Root(t))
		unchanged(t)
	})
	t.Run("renewed", func(t *testing.T) {
		before := secret("exposure-web-tls", "tls.crt")
		now := time.Now().UTC().Format(time.RFC3339)
		clustertest.Kubectl(t, "-n", namespace, "patch", "certificate", "exposure-web-tls", "--subresource=status", "--type=json", "-p",
			`[{"op": "add", "path": "/status/conditions/-", "value": {"type": "Issuing", "status": "True", "reason": "ManuallyTriggered", "message": "by a test", "lastTransitionTime": "`+now+`"}}]`)
		clustertest.Eventually(t, "another certificate", func() bool { return secret("exposure-web-tls", "tls.crt") != before })
		kolla(t, "apply", "-auto-approve", "-timeout=60s")
		answers(t, acme.Root(t))
		unchanged(t)
	})
	t.Run("a server that refuses", func(t *testing.T) {
		b.ports["three"] = b.ports["two"]
		write("acme")
		code, out, complaint := try("apply", "-auto-approve", "-timeout=40s", "-no-color")
		if said := out + complaint; code != 1 || !strings.Contains(said, "rejectedIdentifier") || !strings.Contains(said, "three.cloud.example.org") {
			t.Errorf("exit code %d:\n%s", code, said)
		}
		if _, out, _ := try("status", "-no-color"); !strings.Contains(out, "rejectedIdentifier") {
			t.Errorf("kolla status says:\n%s", out)
		}
		answers(t, acme.Root(t)) // the certificate before
		delete(b.ports, "three")
		write("acme")
		kolla(t, "apply", "-auto-approve", "-timeout=120s")
		unchanged(t)
	})
}

// solve answers the challenges of cert-manager's pods in a namespace at an address of this machine, which it gives
// to the pods: simulated pods run nothing.
func solve(t *testing.T, namespace, address string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(certmanager.SolverPort)))
	if err != nil {
		t.Fatal(err)
	}
	var answers sync.Map // of host names and tokens
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if key, ok := answers.Load(host + " " + path.Base(r.URL.Path)); ok {
			fmt.Fprint(w, key)
			return
		}
		http.NotFound(w, r)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	pods := corev1client.NewForConfigOrDie(clustertest.Config(t)).Pods(namespace)
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: "acme.cert-manager.io/http01-solver=true"})
			if err != nil {
				continue
			}
			for _, pod := range list.Items {
				given := map[string]string{}
				for _, arg := range pod.Spec.Containers[0].Args {
					name, value, _ := strings.Cut(arg, "=")
					given[name] = value
				}
				answers.Store(given["--domain"]+" "+given["--token"], given["--key"])
				if pod.Status.PodIP != "" && pod.Status.PodIP != address {
					patch := fmt.Sprintf(`{"status": {"podIP": %q, "podIPs": [{"ip": %[1]q}]}}`, address)
					_, _ = pods.Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(300 * time.Millisecond):
			}
		}
	})
	t.Cleanup(func() { stop(); done.Wait() })
}
