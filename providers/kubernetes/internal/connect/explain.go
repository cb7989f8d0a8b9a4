package connect

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/providers"
)

// Explain implements failure.Explained.
func (e *NoConfigError) Explain() (summary, detail string) {
	if e.Pod {
		return "no cluster to talk to: this pod has no token of a service account",
			"Looked for /var/run/secrets/kubernetes.io/serviceaccount/token, and for a kubeconfig at " + strings.Join(e.Searched, ", ") +
				". Set serviceAccountName, and automountServiceAccountToken to true, in the pod. The rights come from kolla rbac -serviceaccount."
	}
	return "no cluster to talk to: no kubeconfig was found",
		"Looked for " + strings.Join(e.Searched, ", ") + ". Name a file with -kubeconfig or $KUBECONFIG."
}

// Explain implements failure.Explained.
func (e *BrokenConfigError) Explain() (summary, detail string) {
	for part, advice := range damaged {
		if strings.Contains(e.Err.Error(), part) {
			return e.Error(), advice + " Get the kubeconfig again from the administrator of the cluster, or repair it. Look at it with: kubectl config view" + flagFor(e.File)
		}
	}
	return e.Error(), "Check the file with: kubectl config view" + flagFor(e.File)
}

// damaged maps parts of client-go's messages about certificates and keys to explanations.
var damaged = map[string]string{
	"unable to load root certificates": "The certificate-authority or certificate-authority-data of the cluster must be a certificate in PEM, and is damaged or something else.",
	"PEM data in certificate input":    "The client-certificate or client-certificate-data of the user must be a certificate in PEM, and is damaged or something else.",
	"PEM data in key input":            "The client-key or client-key-data of the user must be a private key in PEM, and is damaged or something else.",
	"private key does not match":       "The client-certificate and the client-key of the user do not belong together.",
	"no Auth Provider found":           "Kubernetes has removed such auth-providers: the user needs a token, a client certificate, or a command for credentials (exec).",
}

// advised adds the next step to an answer of the server that concerns more than one object.
func advised(err error) error {
	var answer apierrors.APIStatus
	switch {
	case errors.As(err, &answer) && unavailable(answer.Status()):
		return &UnservedError{Code: answer.Status().Code, Err: err}
	case apierrors.IsUnauthorized(err):
		return failure.With(err, "the server does not accept the credentials (401 Unauthorized)",
			"The token or client certificate of the kubeconfig's user has expired, or belongs to another cluster. Log in again, or choose another context with -context.")
	case isDatabaseFull(err):
		return failure.With(err, "the database of the cluster is full: etcd accepts no writes",
			"An administrator of the cluster has to raise the quota of etcd, or to compact and defragment it, and then to clear the alarm: etcdctl alarm disarm. Run the command again then. It happened here: "+err.Error()+".")
	}
	return err
}

func flagFor(file string) string {
	if file == "" {
		return ""
	}
	return " --kubeconfig " + file
}

// Explain implements failure.Explained.
func (e *UnknownContextError) Explain() (summary, detail string) {
	summary = fmt.Sprintf("the kubeconfig has no context %q", e.Context)
	if e.Context == "" {
		summary = "the kubeconfig names no current context"
	}
	if len(e.Known) == 0 {
		return summary, "There are no contexts in " + strings.Join(e.Files, ", ") + "."
	}
	return summary, "There are: " + strings.Join(e.Known, ", ") + ". Choose one with -context."
}

// Explain implements failure.Explained.
func (e *UnreachableError) Explain() (summary, detail string) {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		dns       *net.DNSError
	)
	err := e.Err
	cause := "Cause: " + err.Error() + "."
	server := e.Server
	switch {
	case strings.Contains(err.Error(), "getting credentials: "):
		return "the command that the kubeconfig names for credentials failed", cause
	case strings.Contains(err.Error(), plainHTTP):
		return server + " speaks HTTP, not HTTPS", "Check the scheme and the port of the server in the kubeconfig."
	case errors.As(err, &authority):
		return "the certificate of " + server + " is signed by an unknown authority",
			"The certificate-authority-data of the kubeconfig is of another cluster, or something between here and the server replaces its certificate. " + cause
	case errors.As(err, &host):
		return "the certificate of " + server + " is for another name",
			"Use an address that the certificate has, or set tls-server-name in the kubeconfig. " + cause
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of " + server + " has expired, or is not valid yet", "Renew it, or check the clocks. " + cause
	case isCertificateTrouble(err):
		return "no TLS connection to " + server, cause
	case errors.As(err, &dns):
		return "the name " + dns.Name + " of the server cannot be resolved", cause
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + server, "The API server is down, or the address in the kubeconfig is wrong."
	case errors.Is(err, context.DeadlineExceeded), isTimeout(err):
		return server + " does not answer", "The API server hangs, a firewall drops the packets, or a VPN is down. " + cause
	}
	return "cannot reach " + server, cause
}

// Explain implements failure.Explained.
func (e *UnservedError) Explain() (summary, detail string) {
	cause := "Cause: " + e.Err.Error() + "."
	server := strings.TrimSuffix("the API server at "+e.Server, " at ")
	switch {
	case e.Code == http.StatusTooManyRequests:
		return server + " is overloaded, and takes no requests of this user",
			"Wait until other clients ask less, or have an administrator look at its FlowSchemas. Then run the command again. " + cause
	case e.Code == http.StatusForbidden:
		return server + " permits not even the first requests",
			"They read the namespace kube-system and the version of the server. A policy, or a proxy before the server, refuses them. " + cause
	case e.Code >= http.StatusInternalServerError:
		return server + " answers no requests",
			fmt.Sprintf("It is starting, its etcd is down, or a load balancer before it reaches no server (status %d). Look at it with: kubectl get --raw='/readyz?verbose'. Run the command again when it is ready. %s", e.Code, cause)
	}
	return e.Server + " does not answer as an API server of Kubernetes does",
		"Something else listens there, such as a proxy or a login page, or the address in the kubeconfig is wrong. Compare with: kubectl version. " + cause
}

// unavailable reports whether the whole server is out of service, after all attempts. A denial by a
// webhook does not count, because the webhook chooses the code.
func unavailable(status metav1.Status) bool {
	if providers.DeniedByAdmission(status.Message) {
		return false
	}
	switch status.Code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return !extensionDown(status)
	}
	return false
}

// isDatabaseFull reports whether etcd refuses all writes.
func isDatabaseFull(err error) bool {
	var answer apierrors.APIStatus
	return errors.As(err, &answer) && (strings.Contains(answer.Status().Message, databaseFull) || answer.Status().Code == http.StatusInsufficientStorage)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
