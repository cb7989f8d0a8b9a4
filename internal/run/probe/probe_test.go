package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// ask runs the script of a pod on this machine, with files of a root directory.
func ask(t *testing.T, files map[string]string, questions probe.Questions) *probe.Report {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "python3", "node.py", root)
	cmd.Env = append(os.Environ(), "PROBE="+string(text))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	report, err := probe.Parse("a line of something else\n" + string(out))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return report
}

// TestScriptFiles checks what the script reads of a node.
func TestScriptFiles(t *testing.T) {
	release, err := exec.CommandContext(t.Context(), "uname", "-r").Output()
	if err != nil {
		t.Fatal(err)
	}
	lib := "host/lib/modules/" + strings.TrimSpace(string(release)) + "/"
	modules := map[string]string{"openvswitch": "ovs_vport_add", "nf_tables": "nft_do_chain", "tun": "tun_chr_open", "kvm": "kvm_init", "rbd": "rbd_init"}
	files := map[string]string{
		"etc/resolv.conf":                  "# nothing\nsearch first.example\nnameserver 10.96.0.10\nnameserver 192.0.2.1\nsearch openstack.svc.cluster.local svc.cluster.local\noptions ndots:5 timeout:2\n",
		"proc/kallsyms":                    "0000000000000000 t nft_do_chain\t[nf_tables]\n0000000000000000 T other\n",
		"proc/cpuinfo":                     "flags\t\t: fpu vmx sse\n",
		"sys/module/tun/initstate":         "live",
		lib + "modules.dep":                "kernel/net/openvswitch/openvswitch.ko.xz: kernel/net/nsh/nsh.ko.xz\n",
		lib + "modules.builtin":            "kernel/arch/x86/kvm/kvm.ko\n",
		"sys/class/misc/kvm/dev":           "10:232",
		"sys/fs/cgroup/cgroup.controllers": "cpu memory",
		"host/sys-fs/selinux/enforce":      "1",
		"host/iscsi/initiatorname.iscsi":   "# comment\nInitiatorName=iqn.2016-04.com.open-iscsi:abc\n",
		"host/nvme/hostnqn":                "nqn.2014-08.org.nvmexpress:uuid:def\n",
	}
	got := ask(t, files, probe.Questions{Modules: modules})
	want := probe.Kernel{
		Modules: map[string]string{"openvswitch": "loadable", "nf_tables": "loaded", "tun": "loaded", "kvm": "loadable", "rbd": "missing"},
		KVM:     true, Virtualization: true, Cgroup: 2, SELinux: "enforcing",
	}
	if diff := cmp.Diff(want, got.Kernel); diff != "" {
		t.Errorf("kernel (-want +got):\n%s", diff)
	}
	if r := got.Resolver; r.Ndots != 5 || !slices.Equal(r.Nameservers, []string{"10.96.0.10", "192.0.2.1"}) || !slices.Equal(r.Search, []string{"openstack.svc.cluster.local", "svc.cluster.local"}) {
		t.Errorf("resolver %+v", r)
	}
	if want := []string{"iqn.2016-04.com.open-iscsi:abc", "nqn.2014-08.org.nvmexpress:uuid:def"}; !slices.Equal(got.Initiators, want) {
		t.Errorf("initiators %q, want %q", got.Initiators, want)
	}

	// Without directories of the node, nobody knows what could be loaded.
	bare := ask(t, map[string]string{"sys/module/tun/initstate": "live"}, probe.Questions{Modules: modules})
	want = probe.Kernel{Modules: map[string]string{"openvswitch": "", "nf_tables": "", "tun": "loaded", "kvm": "", "rbd": ""}, Cgroup: 1}
	bare.Kernel.Virtualization = false // other processors count as able
	if diff := cmp.Diff(want, bare.Kernel); diff != "" {
		t.Errorf("kernel of a pod without directories of the node (-want +got):\n%s", diff)
	}
	if bare.Resolver.Ndots != 1 || len(bare.Initiators) > 0 {
		t.Errorf("%+v", bare)
	}
	files = map[string]string{"host/sys-fs/other": ""}
	if got := ask(t, files, probe.Questions{}).Kernel.SELinux; got != "disabled" {
		t.Errorf("SELinux is %q in a kernel without it", got)
	}
}

// TestScriptNetwork checks lookups, connections, and the size of packets.
func TestScriptNetwork(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v3" {
			w.WriteHeader(http.StatusMultipleChoices)
		}
	}))
	defer server.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := listener.Addr().String()
	_ = listener.Close()
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mail.Close()
	go func() {
		for {
			conn, err := mail.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("220 mail.example.org\r\n"))
			_, _ = conn.Read(make([]byte, 1<<10))
			_ = conn.Close()
		}
	}()
	open := strings.TrimPrefix(server.URL, "http://")
	got := ask(t, nil, probe.Questions{
		Names:   []string{"localhost", "nothing.invalid"},
		Reached: []string{server.URL + "/v3", open, closed, "http://" + closed, "http://" + mail.Addr().String(), "nothing.invalid:80"},
		Paths:   []string{"127.0.0.1"},
	})
	if l := got.Names[0]; l.Problem != "" || !slices.Contains(append(l.Addresses, ""), "127.0.0.1") && !slices.Contains(l.Addresses, "::1") {
		t.Errorf("localhost: %+v", l)
	}
	if l := got.Names[1]; l.Problem == "" || len(l.Addresses) > 0 {
		t.Errorf("a name that does not exist: %+v", l)
	}
	for i, want := range []probe.Contact{
		{Status: http.StatusMultipleChoices},
		{},
		{Problem: "cannot connect: connection refused"},
		{Problem: "cannot connect: connection refused"},
	} {
		c := got.Reached[i]
		if c.Status != want.Status || c.Problem != want.Problem || (c.Connected > 0) != (want.Problem == "") || (c.Answered > 0) != (want.Status != 0) {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
	if c := got.Reached[4]; c.Problem != "it accepts connections, but does not answer in HTTP" {
		t.Errorf("the answer of another protocol: %+v", c)
	}
	if c := got.Reached[5]; !strings.HasPrefix(c.Problem, "cannot connect: ") || strings.Contains(c.Problem, "errno") {
		t.Errorf("a name that does not exist: %+v", c)
	}
	if p := got.Paths[0]; p.Large == nil || !*p.Large || p.MTU == 0 {
		t.Errorf("path to this machine: %+v", p)
	}
}

// TestParse checks that a log without a report is an error.
func TestParse(t *testing.T) {
	for _, log := range []string{"", "Traceback (most recent call last):", `{"format": 2}`, "{}"} {
		if report, err := probe.Parse(log); err == nil {
			t.Errorf("%q has a report: %+v", log, report)
		}
	}
}

// TestLevels checks which Pod Security level pods need: "restricted", with directories of the node
// "privileged".
func TestLevels(t *testing.T) {
	runner := probe.Runner{Namespace: "openstack", Patience: time.Minute}
	for level, hostPaths := range map[string]map[string]string{podsecurity.Restricted: nil, podsecurity.Privileged: {"lib": "/lib"}} {
		pod, err := probe.OnNode("cmp-1", probe.Base{Image: "i"}, probe.Questions{}, hostPaths)
		if err != nil {
			t.Fatal(err)
		}
		job := runner.Job("j", "r", pod)
		for _, each := range podsecurity.Levels() {
			refused := podsecurity.Refusal(job, podsecurity.Latest(each)) != ""
			if want := podsecurity.Weaker(each, level) != each; refused != want {
				t.Errorf("level %s refuses a pod with directories %v: %t", each, hostPaths, refused)
			}
		}
	}
}

// runner returns a Runner in a namespace of its own.
func runner(t *testing.T, patience time.Duration) *probe.Runner {
	t.Helper()
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: clustertest.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	return &probe.Runner{Reader: client, Writer: client.Writer(), Cloud: "prod", Namespace: clustertest.Namespace(t), Patience: patience}
}

// left returns the Jobs and pods of a namespace.
func left(t *testing.T, namespace string) string {
	t.Helper()
	return strings.TrimSpace(clustertest.Kubectl(t, "-n", namespace, "get", "jobs,pods", "-o", "name"))
}

// TestRun checks the outcomes of pods in a cluster, and that nothing stays behind.
func TestRun(t *testing.T) {
	r := runner(t, 20*time.Second)
	on := func(node string) probe.Pod {
		pod, err := probe.OnNode(node, probe.Base{Image: "example.org/i:1"}, probe.Questions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return pod
	}
	invalid := on("cmp-1")
	invalid.Spec.Containers[0].Name = "Not A Name"
	outcomes, err := r.Run(t.Context(), []probe.Pod{on("cmp-1"), on("cmp-2"), invalid, on("nowhere")})
	if err != nil {
		t.Fatal(err)
	}
	for i, node := range []string{"cmp-1", "cmp-2"} {
		if o := outcomes[i]; o.Problem != "" || o.Pod.Spec.NodeName != node || o.Log == "" {
			t.Errorf("the pod on %s: %q, log %q", node, o.Problem, o.Log)
		}
	}
	if o := outcomes[2]; o.Pod != nil || !strings.Contains(o.Problem, "Not A Name") {
		t.Errorf("an invalid pod: %+v", o)
	}
	if o := outcomes[3]; !strings.HasPrefix(o.Problem, "the pod gets no node: ") || strings.Count(o.Problem, "preemption: ") > 1 {
		t.Errorf("a pod for a node that does not exist: %+v", o.Problem)
	}
	if found := left(t, r.Namespace); found != "" {
		t.Errorf("left behind: %s", found)
	}
}

// failing makes the containers of pods fail, and gives no logs.
type failing struct {
	probe.Reader
	probe.Writer
}

func (f failing) Apply(ctx context.Context, job *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	job = job.DeepCopy()
	if err := unstructured.SetNestedField(job.Object, "fail", "spec", "template", "metadata", "annotations", "devcluster.kolla/outcome"); err != nil {
		return nil, err
	}
	return f.Writer.Apply(ctx, job, options)
}

func (failing) Log(context.Context, string, string, *corev1.PodLogOptions) (io.ReadCloser, error) {
	return nil, errors.New("the node does not answer")
}

// TestRunWithoutLog checks that the reason of a pod that failed is told although its log cannot be read.
func TestRunWithoutLog(t *testing.T) {
	r := runner(t, time.Minute)
	f := failing{r.Reader, r.Writer}
	r.Reader, r.Writer = f, f
	pod := probe.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{probe.Container("c", probe.Base{Image: "example.org/i:1"}, []string{"false"})}}}
	outcomes, err := r.Run(t.Context(), []probe.Pod{pod})
	if err != nil {
		t.Fatal(err)
	}
	if got := outcomes[0].Problem; !strings.HasPrefix(got, "container c ended with 1") {
		t.Errorf("problem %q", got)
	}
}

// TestRunInterrupted checks that nothing stays behind after Ctrl-C.
func TestRunInterrupted(t *testing.T) {
	r := runner(t, time.Minute)
	pod, err := probe.OnNode("nowhere", probe.Base{Image: "example.org/i:1"}, probe.Questions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer cancel()
		clustertest.Eventually(t, "the Job is there", func() bool { return strings.Contains(left(t, r.Namespace), "pod/") })
	}()
	if _, err := r.Run(ctx, []probe.Pod{pod}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if found := left(t, r.Namespace); found != "" {
		t.Errorf("left behind: %s", found)
	}
}

// TestRunSweeps checks that a run removes Jobs of a killed kolla that the cluster did not remove, and no others.
func TestRunSweeps(t *testing.T) {
	r := runner(t, time.Minute)
	pod := probe.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{probe.Container("c", probe.Base{Image: "example.org/i:1"}, []string{"true"})}}}
	create := func(name, cloud string, patience time.Duration) {
		other := probe.Runner{Cloud: cloud, Namespace: r.Namespace, Patience: patience}
		job := other.Job(name, "earlier", pod)
		job.Object["spec"].(map[string]any)["suspend"] = true // its deadline does not count, and it does not finish
		text, err := job.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "job.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		clustertest.Kubectl(t, "create", "-f", file)
	}
	const over = -29 * time.Second // the deadline is a second after the start
	create("old", "prod", over)
	create("running", "prod", time.Minute)
	create("of-another-cloud", "other", over)
	time.Sleep(4 * time.Second)
	if _, err := r.Run(t.Context(), []probe.Pod{pod}); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(left(t, r.Namespace)), []string{"job.batch/of-another-cloud", "job.batch/running"}; !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
}
