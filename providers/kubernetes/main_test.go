package kubernetes_test

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// connect returns a client of the test cluster.
func connect(t *testing.T) *kubernetes.Client {
	t.Helper()
	return connectTo(t, clustertest.Kubeconfig())
}

func connectTo(t *testing.T, kubeconfig string) *kubernetes.Client {
	t.Helper()
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// object reads a manifest from YAML, and puts it into the namespace.
func object(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatalf("read manifest: %v\n%s", err, text)
	}
	u.SetNamespace(namespace)
	return u
}

// alteredKubeconfig writes a copy of the cluster's kubeconfig, changed by alter.
func alteredKubeconfig(t *testing.T, alter func(config *clientcmdapi.Config, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo)) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(clustertest.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	context := config.Contexts[config.CurrentContext]
	alter(config, config.Clusters[context.Cluster], config.AuthInfos[context.AuthInfo])
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
