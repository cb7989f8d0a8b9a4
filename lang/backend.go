package lang

import (
	"io/fs"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Backend returns the place where the configuration in a directory keeps its state. It needs
// no values for variables, and neither the catalogue nor a cluster. A directory without a
// configuration has the local backend. files are the sources that diagnostics refer to. fsys is
// Options.FS.
func Backend(dir string, fsys fs.FS) (b configs.Backend, files map[string]*hcl.File, diags hcl.Diagnostics) {
	local := configs.Backend{Kind: configs.LocalBackend}
	l := newLoader(dir, Options{FS: fsys})
	if entries, err := fs.ReadDir(l.sources.FS, dir); err == nil && len(source.Names(entries)) == 0 {
		return local, nil, nil
	}
	root, ok := l.sources.Configuration()
	if root == nil || !ok {
		return local, l.config.Files, l.report.Sorted()
	}
	// Other errors do not matter here: they are reported when the configuration is loaded.
	own := newLoader(dir, Options{FS: fsys})
	b = own.backend(root.Document.All("cloud"))
	if b.Kind != configs.LocalBackend && b.Kind != configs.KubernetesBackend {
		return b, l.config.Files, l.report.Sorted()
	}
	return b, l.config.Files, own.report.Sorted()
}

// backend evaluates the backend block of the cloud.
func (l *loader) backend(clouds []*source.Block) configs.Backend {
	out := configs.Backend{Kind: configs.LocalBackend}
	for _, cloud := range clouds[:min(1, len(clouds))] {
		out.Cloud = cloud.Label
		if attr := cloud.Attributes["namespace"]; attr == nil || len(attr.Expr.Variables()) == 0 {
			out.CloudNamespace = eval.String(l.constant, cloud, "namespace")
		}
		for _, b := range cloud.All("backend") {
			out.Kind, out.Namespace = b.Label, eval.Literal(l.constant, b, "namespace")
			if b.Label == configs.LocalBackend && b.Attributes["namespace"] != nil {
				l.report.Error(b.Attributes["namespace"].NameRange, "A file has no namespace", "The backend \"local\" keeps the state in a file beside the configuration. To keep it in a namespace of the cluster: backend \"kubernetes\".")
			}
		}
	}
	return out
}
