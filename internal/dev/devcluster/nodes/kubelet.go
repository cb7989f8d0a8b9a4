package nodes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Kubelet answers the API server's requests to the kubelets of all nodes.
type Kubelet struct {
	Client kubernetes.Interface
	// Listen is host:port.
	Listen string
	// CertFile and KeyFile are its own; ClientCAFile signs who may ask.
	CertFile, KeyFile, ClientCAFile string
}

// Serve answers until ctx ends.
func (k Kubelet) Serve(ctx context.Context) error {
	ca, err := os.ReadFile(k.ClientCAFile)
	if err != nil {
		return fmt.Errorf("serve logs: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca)
	server := &http.Server{
		Addr:              k.Listen,
		Handler:           k.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(os.Stderr, "kubelet: ", 0),
		TLSConfig: &tls.Config{
			ClientCAs:  pool,
			ClientAuth: tls.RequireAndVerifyClientCert,
			MinVersion: tls.VersionTLS12,
		},
	}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	err = server.ListenAndServeTLS(k.CertFile, k.KeyFile)
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve logs: %w", err)
	}
	return nil
}

func (k Kubelet) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.logs)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "simulated pods run nothing; only their logs can be read", http.StatusNotImplemented)
	})
	return mux
}

func (k Kubelet) logs(w http.ResponseWriter, r *http.Request) {
	namespace, name, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	pod, err := k.Client.CoreV1().Pods(namespace).Get(r.Context(), name, metav1.GetOptions{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if waiting := waitingReason(pod, container); waiting != "" {
		http.Error(w, fmt.Sprintf("container %q in pod %q is waiting to start: %s", container, name, waiting), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintln(w, strings.TrimRight(logText(pod, container), "\n"))
}

// waitingReason is empty for a container that has ever run.
func waitingReason(pod *corev1.Pod, container string) string {
	all := append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...)
	for _, status := range all {
		if status.Name != container {
			continue
		}
		if status.State.Waiting != nil && status.LastTerminationState.Terminated == nil {
			return status.State.Waiting.Reason
		}
		return ""
	}
	return "ContainerCreating"
}

func logText(pod *corev1.Pod, container string) string {
	if text := pod.Annotations[LogsAnnotation]; text != "" {
		return text
	}
	text := fmt.Sprintf("simulated container %s of pod %s/%s", container, pod.Namespace, pod.Name)
	if message := pod.Annotations[MessageAnnotation]; message != "" {
		text += "\n" + message
	}
	return text
}
