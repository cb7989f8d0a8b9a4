package services_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
)

// load evaluates a configuration without a catalogue. It returns the summaries of all diagnostics.
func load(t *testing.T, text string) (config *configs.Config, said []string) {
	t.Helper()
	config, diags := lang.Load(".", lang.Options{Catalogue: fstest.MapFS{}, FS: fstest.MapFS{"main.hcl": {Data: []byte(text)}}})
	for _, d := range diags {
		said = append(said, d.Summary)
	}
	return config, said
}

// reads evaluates an expression beside the configuration, as JSON; empty: it is not known.
func reads(t *testing.T, text, expression string) (value string, said []string) {
	t.Helper()
	config, said := load(t, text+"\noutput \"x\" { value = "+expression+" }\n")
	for _, o := range config.Outputs {
		known, _ := o.Value.UnmarkDeep()
		if !known.IsWhollyKnown() {
			continue
		}
		raw, err := json.Marshal(ctyjson.SimpleJSONValue{Value: known})
		if err != nil {
			t.Fatal(err)
		}
		value = string(raw)
	}
	return value, said
}

// service returns the service a.
func service(config *configs.Config) configs.Service {
	i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == "a" })
	if i < 0 {
		return configs.Service{}
	}
	return config.Services[i]
}

func checkSaid(t *testing.T, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

const cloud = `cloud "c" {
  release = "2025.1"
}
`

// A workload has the replicas of its block in the service, else of the service up to its limit,
// else of its definition.
func TestReplicas(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		workload          string // arguments in the definition
		service, override string
		want              int
		said              []string
	}{
		"nothing":                     {want: 1},
		"the definition":              {workload: "replicas = 2", want: 2},
		"the service":                 {workload: "replicas = 2", service: "replicas = 3", want: 3},
		"the service, null":           {workload: "replicas = 2", service: "replicas = null", want: 2},
		"its block":                   {workload: "replicas = 2", service: "replicas = 3", override: "replicas = 4", want: 4},
		"none":                        {workload: "replicas = 2", service: "replicas = 0", want: 0},
		"the service, over its limit": {workload: "replicas = 1\nmax_replicas = 2", service: "replicas = 3", want: 2, said: []string{"Fewer pods than asked for"}},
		"the service, at its limit":   {workload: "replicas = 1\nmax_replicas = 2", service: "replicas = 2", want: 2},
		"its block, over its limit":   {workload: "max_replicas = 2", override: "replicas = 3", want: 3, said: []string{`Unsuitable value for "replicas"`}},
		"a DaemonSet":                 {workload: `kind = "DaemonSet"`, want: 0},
		"a DaemonSet, the service":    {workload: `kind = "DaemonSet"`, service: "replicas = 3", want: 0, said: []string{`Unsuitable value for "replicas"`}},
		"a DaemonSet, its definition": {workload: "kind = \"DaemonSet\"\nreplicas = 3", want: 0, said: []string{`Unsuitable value for "replicas"`}},
		"a DaemonSet, both":           {workload: "kind = \"DaemonSet\"\nreplicas = 3", service: "replicas = 2", want: 0, said: []string{`Unsuitable value for "replicas"`}}, // said once
		"a DaemonSet, its block":      {workload: `kind = "DaemonSet"`, override: "replicas = 3", want: 0, said: []string{`Unsuitable value for "replicas"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(test.workload, "kind") {
				test.workload += "\nkind = \"Deployment\""
			}
			config, said := load(t, cloud+fmt.Sprintf(`
definition "a" {
  workload "w" {
    image = "a"
    %s
  }
}
service "a" {
  %s
  workload "w" {
    %s
  }
}
`, test.workload, test.service, test.override))
			checkSaid(t, test.said, said)
			if s := service(config); len(s.Workloads) != 1 || s.Workloads[0].Replicas != test.want {
				t.Errorf("workloads: %+v", s.Workloads)
			}
		})
	}
}

// A service has the role and the exposure of its block, else of the cloud's defaults. Only
// services with exposed ports take the exposure of the defaults.
func TestPlace(t *testing.T) {
	t.Parallel()
	const both = "role = role.control\nexpose = exposure.public"
	tests := map[string]struct {
		defaults, port, service string
		want                    string // the role, the exposure
		said                    []string
	}{
		"nothing":                       {port: "expose = true", want: "/"},
		"defaults":                      {defaults: both, port: "expose = true", want: "control/public"},
		"defaults, no exposed port":     {defaults: both, want: "control/"},
		"the service":                   {port: "expose = true", service: "role = role.compute\nexpose = exposure.other", want: "compute/other"},
		"the service before defaults":   {defaults: both, port: "expose = true", service: "role = role.compute\nexpose = exposure.other", want: "compute/other"},
		"null":                          {defaults: both, port: "expose = true", service: "role = null\nexpose = null", want: "/"},
		"the service, no exposed port":  {service: "expose = exposure.other", want: "/other", said: []string{"Exposure without effect"}},
		"external":                      {defaults: both, port: "expose = true", service: `external = { host = "x" }`, want: "/"},
		"defaults that read the name":   {defaults: `role = self.name == "a" ? role.compute : role.control`, want: "compute/"},
		"defaults that read the role":   {defaults: "role = role.control\nexpose = self.role == \"control\" ? exposure.public : exposure.other", port: "expose = true", want: "control/public"},
		"the role that the service has": {defaults: "role = role.control\nexpose = self.role == \"control\" ? exposure.public : exposure.other", port: "expose = true", service: "role = role.compute", want: "compute/other"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			config, said := load(t, fmt.Sprintf(`
cloud "c" {
  release = "2025.1"
  defaults {
    %s
  }
}
role "control" { nodes = ["a"] }
role "compute" { nodes = ["b"] }
exposure "public" { vip = "192.0.2.1" }
exposure "other" { vip = "192.0.2.2" }
definition "a" {
  port "p" {
    number    = 80
    node_port = 30080
    %s
  }
  workload "w" {
    image = "a"
    kind  = "Deployment"
    ports = ["p"]
  }
}
service "a" {
  %s
}
`, test.defaults, test.port, test.service))
			said = slices.DeleteFunc(said, func(s string) bool { return s == "Node port without effect" })
			checkSaid(t, test.said, said)
			if s := service(config); s.Role+"/"+s.Exposure != test.want {
				t.Errorf("got %s/%s, want %s", s.Role, s.Exposure, test.want)
			}
		})
	}
}

// Others read the hosts and ports of a service: the workload with the first port has the name of
// the service, and others have names of their own.
func TestReadings(t *testing.T) {
	t.Parallel()
	const web = cloud + `
exposure "public" { vip = "192.0.2.1" }
definition "a" {
  port "admin" { number = 81 }
  port "http" {
    number    = 80
    expose    = true
    node_port = 30080
    public    = 443
  }
  port "dns" {
    number   = 53
    protocol = "udp"
  }
  port "metrics" { number = 90 }
  workload "named" {
    image    = "n"
    kind     = "StatefulSet"
    replicas = 2
    ports    = ["dns"]
    sidecar "exporter" {
      image = "e"
      ports = ["metrics"]
    }
  }
  workload "api" {
    image = "a"
    kind  = "Deployment"
    ports = ["http", "admin"]
  }
}
service "a" {
  expose = EXPOSURE
  OVERRIDE
}
`
	tests := map[string]struct {
		override        string // in the service
		read            string
		inside, outside string // the value without an exposure, and with one; empty: the same
	}{
		"the host":                           {read: "service.a.host", inside: `"a.openstack"`},
		"the first port":                     {read: "service.a.port", inside: `81`},
		"the URL":                            {read: "service.a.url", inside: `"http://a.openstack:81"`},
		"the public URL":                     {read: "service.a.public_url", inside: `"http://a.openstack:81"`, outside: `"http://192.0.2.1:443"`},
		"a URL of a port":                    {read: "service.a.ports.http.url", inside: `"http://a.openstack:80"`},
		"its public URL":                     {read: "service.a.ports.http.public_url", inside: `"http://a.openstack:80"`, outside: `"http://192.0.2.1:443"`},
		"its number by the service":          {override: "port \"http\" { number = 8080 }", read: "[service.a.ports.http.url, service.a.ports.http.public_url]", inside: `["http://a.openstack:8080","http://a.openstack:8080"]`, outside: `["http://a.openstack:8080","http://192.0.2.1:443"]`},
		"no public number":                   {override: "port \"http\" { public = null }", read: "service.a.public_url", inside: `"http://a.openstack:81"`, outside: `"http://192.0.2.1"`},
		"its public host":                    {read: "service.a.ports.http.public_host", inside: `"a.openstack"`, outside: `"192.0.2.1"`},
		"a port that is inside":              {read: "service.a.ports.admin.public_url", inside: `"http://a.openstack:81"`},
		"a port of a sidecar":                {read: "service.a.ports.metrics.address", inside: `"a-named.openstack:90"`},
		"of another workload":                {read: "service.a.ports.dns.url", inside: `"udp://a-named.openstack:53"`},
		"the members":                        {read: "service.a.members", inside: `{"named":["a-named-0.a-named.openstack","a-named-1.a-named.openstack"]}`},
		"the replicas of the first workload": {read: "service.a.replicas", inside: `2`},
		"that it is not external":            {read: "service.a.external", inside: `false`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.outside == "" {
				test.outside = test.inside
			}
			for exposure, want := range map[string]string{"null": test.inside, "exposure.public": test.outside} {
				got, said := reads(t, strings.NewReplacer("EXPOSURE", exposure, "OVERRIDE", test.override).Replace(web), test.read)
				said = slices.DeleteFunc(said, func(s string) bool { return s == "Node port without effect" })
				checkSaid(t, nil, said)
				if got != want {
					t.Errorf("with expose = %s: %s, want %s", exposure, got, want)
				}
			}
		})
	}
}

// Exposures with a domain give each exposed port a host name. The first one has the name of the
// service.
func TestHostNames(t *testing.T) {
	t.Parallel()
	const web = cloud + `
exposure "web" {
  mode   = "ingress"
  domain = "cloud.example.org"
  vip    = "192.0.2.1"
  MORE
}
definition "a" {
  port "admin" { number = 81 }
  port "http" {
    number = 80
    expose = true
    public = 443
  }
  port "vnc" {
    number = 6080
    expose = true
  }
  workload "api" {
    image = "a"
    kind  = "Deployment"
    ports = ["http", "admin"]
    ready {
      http = "/"
      port = "http"
    }
    sidecar "s" {
      image = "s"
      ports = ["vnc"]
      ready {
        http = "/"
        port = "vnc"
      }
    }
  }
}
service "a" { expose = exposure.web }
`
	for name, test := range map[string]struct{ more, read, want string }{
		"the URL":           {read: "service.a.public_url", want: `"http://a.cloud.example.org"`},
		"its host":          {read: "service.a.ports.http.public_host", want: `"a.cloud.example.org"`},
		"of a further port": {read: "service.a.ports.vnc.public_url", want: `"http://a-vnc.cloud.example.org"`},
		"of another number": {more: "port = 8080", read: "[service.a.public_url, service.a.ports.vnc.public_url]", want: `["http://a.cloud.example.org:8080","http://a-vnc.cloud.example.org:8080"]`},
		"of one inside":     {read: "service.a.ports.admin.public_url", want: `"http://a.openstack:81"`},
		"from inside":       {read: "service.a.ports.http.url", want: `"http://a.openstack:80"`},
		"the exposure":      {read: "[exposure.web.domain, exposure.web.host, exposure.web.vip]", want: `["cloud.example.org","cloud.example.org","192.0.2.1"]`},
	} {
		t.Run(name, func(t *testing.T) {
			got, said := reads(t, strings.Replace(web, "MORE", test.more, 1), test.read)
			checkSaid(t, nil, said)
			if got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// An input has the value of the service, else its default.
func TestInputs(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		input, service string
		want           string // empty: it is not known
		said           []string
	}{
		"given":                       {input: "type = number", service: "size = 3", want: "3"},
		"given, and a default":        {input: "type = number\ndefault = 2", service: "size = 3", want: "3"},
		"a default":                   {input: "type = number\ndefault = 2", want: "2"},
		"a converted value":           {input: "type = string", service: "size = 3", want: `"3"`},
		"missing":                     {input: "type = number", said: []string{"Missing argument"}},
		"misspelled":                  {input: "type = number", service: "sise = 3", said: []string{"Unknown argument"}},
		"of another type":             {input: "type = number", service: `size = "x"`, said: []string{`Unsuitable value for input "size"`}},
		"null":                        {input: "type = number", service: "size = null", want: "null"},
		"null, and a default":         {input: "type = number\ndefault = 2", service: "size = null", want: "null"},
		"null that is not allowed":    {input: "type = number\nnullable = false", service: "size = null", said: []string{`Unsuitable value for input "size"`}},
		"null instead of the default": {input: "type = number\nnullable = false\ndefault = 2", service: "size = null", want: "2"},
		"a value that is not valid":   {input: "type = number\nvalidation {\n condition = input.size > 3\n error_message = \"It is small.\"\n}", service: "size = 3", want: "3", said: []string{`Unsuitable value for input "size"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, said := reads(t, cloud+fmt.Sprintf(`
definition "a" {
  input "size" {
    %s
  }
  output "size" { value = input.size }
}
service "a" {
  %s
}
`, test.input, test.service), "service.a.size")
			checkSaid(t, test.said, said)
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Patches and images: the service is stronger than the cloud, and the cloud stronger than the
// definition.
func TestLayers(t *testing.T) {
	t.Parallel()
	config, said := load(t, `
cloud "c" {
  release = "2025.1"
  images  = { one = "example.org/one:1", two = "example.org/two:1" }
  defaults {
    patch "Deployment/*" { object = { metadata = { annotations = { by = "cloud" } } } }
  }
}
definition "a" {
  workload "w" {
    image = "one"
    kind  = "Deployment"
    sidecar "s" { image = "two" }
  }
  patch "Deployment/*" { object = { metadata = { annotations = { by = "definition" } } } }
}
service "a" {
  images = { two = "example.org/other:1" }
  patch "Deployment/*" { object = { metadata = { annotations = { by = "service" } } } }
}
`)
	checkSaid(t, nil, said)
	s := service(config)
	var layers []string
	for _, p := range s.Patches {
		layers = append(layers, p.Layer)
	}
	if diff := cmp.Diff([]string{configs.LayerDefinition, configs.LayerCloud, configs.LayerService}, layers); diff != "" {
		t.Errorf("patches (-want +got):\n%s", diff)
	}
	if w := s.Workloads[0]; w.Pod.Image != "example.org/one:1" || w.Pod.Inits[0].Image != "example.org/other:1" {
		t.Errorf("images: %s, %+v", w.Pod.Image, w.Pod.Inits)
	}
}

// Instances share the merged values of their definition. Each evaluates them for itself.
func TestInstancesShareDefinition(t *testing.T) {
	t.Parallel()
	config, said := load(t, cloud+`
definition "a" {
  config "a.conf" {
    path   = "/a"
    values = { DEFAULT = { name = self.name, kept = length([1]) > 0 ? 1 : null } }
  }
  workload "w" {
    image  = "a"
    kind   = "Deployment"
    config = ["a.conf"]
  }
}
service "a" {
  for_each = { x = 1, y = null }
  config "a.conf" { values = { DEFAULT = { kept = each.value } } }
}
`)
	checkSaid(t, nil, said)
	var got []string
	for _, s := range config.Services {
		for _, o := range s.Configs[0].Options {
			got = append(got, o.Key+" = "+o.Values[0].Masked())
		}
	}
	if diff := cmp.Diff([]string{"kept = 1", "name = a-x", "name = a-y"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
