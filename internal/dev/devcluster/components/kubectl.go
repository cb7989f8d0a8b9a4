package components

import (
	"os"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

// Kubectl runs the compiled-in kubectl with its own arguments and ends the
// process where kubectl does. It returns only when all went well.
func Kubectl(kubeconfig string, args []string) {
	os.Setenv("KUBECONFIG", kubeconfig)
	// It finds its arguments there, not least to look for plugins.
	os.Args = append([]string{"kubectl"}, args...)
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
