package connect

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc" // for kubeconfigs that use it, as in kubectl
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"kolla.openstack.org/kolla/internal/base/files"
)

// NoConfigError reports that no configuration names a cluster.
type NoConfigError struct {
	// Searched are the files that kolla looked for.
	Searched []string
	// Pod: kolla runs in a pod without the token of a service account.
	Pod bool
}

func (e *NoConfigError) Error() string {
	return "no kubeconfig was found: looked for " + strings.Join(e.Searched, ", ")
}

// BrokenConfigError reports that a kubeconfig file cannot be read or is not valid.
type BrokenConfigError struct {
	File string // empty: no single file is at fault
	Err  error
}

func (e *BrokenConfigError) Error() string {
	if e.File == "" {
		return "the kubeconfig cannot be used: " + e.Err.Error()
	}
	return fmt.Sprintf("the kubeconfig %s cannot be used: %v", e.File, e.Err)
}

func (e *BrokenConfigError) Unwrap() error { return e.Err }

// UnknownContextError reports that the kubeconfig has no such context.
type UnknownContextError struct {
	Context string   // empty: no context was chosen, and none is current
	Known   []string // sorted
	Files   []string // kubeconfig files that were searched
}

func (e *UnknownContextError) Error() string {
	known := "it has none"
	if len(e.Known) > 0 {
		known = "it has " + strings.Join(e.Known, ", ")
	}
	if e.Context == "" {
		return "the kubeconfig names no current context: " + known
	}
	return fmt.Sprintf("the kubeconfig has no context %q: %s", e.Context, known)
}

// chosen is the configuration of a connection.
type chosen struct {
	config  *rest.Config
	context string // of the kubeconfig; empty: there is none
	file    string // kubeconfig; empty: there are several, or none
}

// loadConfig reads the kubeconfig files in the order of kubectl. It checks each file alone
// first, because the error about the merged configuration does not name a file.
func loadConfig(options Options, warnings *warnings) (chosen, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = options.Kubeconfig
	if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		// Without a home directory, client-go would look into the current directory, whose files
		// may belong to another user.
		rules.Precedence = slices.DeleteFunc(rules.Precedence, func(file string) bool { return !filepath.IsAbs(file) })
	}
	rules.MigrationRules = nil // they would copy a file from there, too
	// Missing files of $KUBECONFIG are reported below if all of them are missing.
	rules.WarnIfAllMissing = false
	paths := slices.DeleteFunc(rules.GetLoadingPrecedence(), func(file string) bool { return file == "" })
	for _, file := range paths {
		err := files.Check(file, files.MaxSize)
		if err == nil {
			_, err = clientcmd.LoadFromFile(file)
		}
		missing := errors.Is(err, fs.ErrNotExist)
		if err != nil && (!missing || options.Kubeconfig != "") {
			return chosen{}, &BrokenConfigError{File: file, Err: files.Cause(err)}
		}
		if missing && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" && len(paths) > 1 {
			warnings.tell(Warning{Text: fmt.Sprintf("$%s names %s, which does not exist", clientcmd.RecommendedConfigPathEnvVar, file)})
		}
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: options.Context}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	merged, err := loader.RawConfig()
	if err != nil {
		return chosen{}, &BrokenConfigError{Err: err}
	}
	context := ""
	if len(merged.Contexts) > 0 || options.Context != "" {
		context = cmp.Or(options.Context, merged.CurrentContext)
		if merged.Contexts[context] == nil {
			return chosen{}, &UnknownContextError{Context: context, Known: slices.Sorted(maps.Keys(merged.Contexts)), Files: paths}
		}
	}
	config, err := loader.ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		if len(paths) == 0 {
			paths = []string{"~/.kube/config, and $HOME names no absolute directory"}
		}
		return chosen{}, &NoConfigError{Searched: paths, Pod: os.Getenv("KUBERNETES_SERVICE_HOST") != ""}
	}
	if err != nil {
		return chosen{}, &BrokenConfigError{File: onlyFile(paths), Err: err}
	}
	return chosen{config, context, onlyFile(paths)}, nil
}

func onlyFile(files []string) string {
	if len(files) == 1 {
		return files[0]
	}
	return ""
}
