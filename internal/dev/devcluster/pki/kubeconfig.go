package pki

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName is the cluster, context and user name in every kubeconfig.
const contextName = "devcluster"

// Kubeconfig returns the content of a kubeconfig file in which the identity name of
// dir talks to the API server at url. It holds the key material itself, so that
// the file can be copied elsewhere.
func Kubeconfig(dir, name, url string) ([]byte, error) {
	ca, err := os.ReadFile(CertFile(dir, CA))
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig of %s: %w", name, err)
	}
	cert, err := os.ReadFile(CertFile(dir, name))
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig of %s: %w", name, err)
	}
	key, err := os.ReadFile(KeyFile(dir, name))
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig of %s: %w", name, err)
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: ca}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	config.CurrentContext = contextName
	return clientcmd.Write(*config)
}
