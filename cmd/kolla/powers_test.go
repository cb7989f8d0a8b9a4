package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// standards sends the pods of Kubernetes' own tests of the level "restricted" to the server,
// as dry runs. The server must accept every pod that the level accepts, except pods for
// Windows, and must refuse every other pod. Usage: standards NAMESPACE.
func standards(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: standards NAMESPACE")
	}
	config, err := clientcmd.BuildConfigFromFlags("", ts.Getenv("KUBECONFIG"))
	ts.Check(err)
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	pods := corev1client.NewForConfigOrDie(config).Pods(args[0])
	windows := false
	try := func(file string) error {
		content, err := os.ReadFile(file)
		ts.Check(err)
		var pod corev1.Pod
		ts.Check(yaml.Unmarshal(content, &pod))
		windows = pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows
		pod.Name = strings.ReplaceAll(pod.Name, "_", "-") // the server accepts no underscores in names
		_, err = pods.Create(context.Background(), &pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	}
	// It takes the server a moment to know a policy.
	for start := time.Now(); try(restrictedPods(ts, "fail")[0]) == nil && time.Since(start) < 20*time.Second; {
		time.Sleep(100 * time.Millisecond)
	}
	tried := map[string]int{}
	for _, want := range []string{"pass", "fail"} {
		for _, file := range restrictedPods(ts, want) {
			err := try(file)
			tried[want]++
			switch {
			case want == "pass" && err != nil && !windows:
				ts.Fatalf("%s is refused: %v", filepath.Base(file), err)
			case want == "fail" && err == nil:
				ts.Fatalf("%s is accepted", file)
			case want == "fail" && !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") && !apierrors.IsInvalid(err):
				ts.Fatalf("%s is refused by something else: %v", filepath.Base(file), err)
			}
		}
	}
	if tried["pass"] < 10 || tried["fail"] < 50 {
		ts.Fatalf("there are only %v pods", tried)
	}
	fmt.Fprintf(ts.Stdout(), "%v\n", tried)
}

// restrictedPods returns the files of the newest version of the level.
func restrictedPods(ts *testscript.TestScript, which string) []string {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/pod-security-admission")
	output, err := list.Output()
	ts.Check(err)
	level := filepath.Join(strings.TrimSpace(string(output)), "test", "testdata", "restricted")
	versions, err := os.ReadDir(level)
	ts.Check(err)
	newest := 0
	for _, version := range versions {
		if minor, err := strconv.Atoi(strings.TrimPrefix(version.Name(), "v1.")); err == nil {
			newest = max(newest, minor)
		}
	}
	files, err := filepath.Glob(filepath.Join(level, fmt.Sprintf("v1.%d", newest), which, "*.yaml"))
	ts.Check(err)
	return files
}
