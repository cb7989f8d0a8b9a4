package view_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/npmtest"
	"kolla.openstack.org/kolla/internal/present/view/html"
	"kolla.openstack.org/kolla/planner/plans"
)

// chromiumVariable names a Chromium, or the root of a file system that contains it.
const chromiumVariable = "KOLLA_CHROMIUM"

// devices are the sizes of the browser, in points.
var devices = map[string]device{
	"phone": {Width: 360, Height: 740, Scale: 2, Mobile: true},
	"desk":  {Width: 1280, Height: 900, Scale: 1},
}

// modes lists the combinations of screen size and colour scheme.
var modes = []struct{ size, scheme string }{{"phone", "light"}, {"phone", "dark"}, {"desk", "light"}, {"desk", "dark"}}

type device struct {
	Width  int  `json:"width"`
	Height int  `json:"height"`
	Scale  int  `json:"deviceScaleFactor"`
	Mobile bool `json:"mobile"`
}

// TestBrowser opens pages in a real Chromium.
func TestBrowser(t *testing.T) {
	b := startBrowser(t)
	for name, sample := range map[string]func() *plans.Plan{
		"stack": stack, "tuesday": tuesday, "first": firstPlan, "haystack": haystack, "losses": lossesAndOthers, "replace": replaceAndDelete, "long": longValues, "policies": judged, "diff": diffOfVersions,
		"none": unchanged(64, 2), "evil": func() *plans.Plan { return evilPlan(`</script><script>alert(1)</script><img src=x onerror=alert(1)>`) },
	} {
		b.write(t, name+".html", webPage(sample(), html.Options{}))
	}
	var look bytes.Buffer
	if err := html.Drift(&look, hostileLook(), time.UTC); err != nil {
		t.Fatal(err)
	}
	b.write(t, "drift.html", look.String())
	t.Run("every page fits and asks for nothing", func(t *testing.T) { everyPage(t, b) })
	t.Run("filters", func(t *testing.T) { filters(t, b) })
	t.Run("picture", func(t *testing.T) { keyboard(t, b) })
	t.Run("without JavaScript", func(t *testing.T) { withoutScript(t, b) })
	t.Run("policy", func(t *testing.T) { policyHolds(t, b) })
	t.Run("1000 objects", func(t *testing.T) { sizeable(t, b) })
	t.Run("accessibility", func(t *testing.T) { accessible(t, b) })
}

// everyPage checks all pages at each width, in light and dark, folded and unfolded.
func everyPage(t *testing.T, b *browser) {
	pages, err := filepath.Glob(filepath.Join(b.dir, "*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("found no pages: %v", err)
	}
	for _, page := range pages {
		name := filepath.Base(page)
		for _, mode := range modes {
			size := mode.size + "-" + mode.scheme
			b.call(t, "Emulation.setDeviceMetricsOverride", devices[mode.size], nil)
			b.prefer(t, mode.scheme)
			b.open(t, name)
			b.fits(t, name, size)
			b.pictures(t, strings.TrimSuffix(name, ".html")+"-"+size)
			b.eval(t, `document.querySelectorAll("details").forEach((d) => (d.open = true))`, nil)
			b.fits(t, name+" unfolded", size)
			b.pictures(t, strings.TrimSuffix(name, ".html")+"-"+size+"-unfolded")
		}
		b.silent(t, name)
	}
	b.call(t, "Emulation.setDeviceMetricsOverride", devices["desk"], nil)
}

// filters checks each filter.
func filters(t *testing.T, b *browser) {
	b.open(t, "first.html")
	const visible = `[...document.querySelectorAll("details.action")].filter((d) => d.checkVisibility()).length`
	set := func(code string) int {
		t.Helper()
		var n int
		b.eval(t, `{ const f = document.getElementById("filter"); f.reset(); `+code+`; f.dispatchEvent(new Event("input")); } `+visible, &n)
		return n
	}
	all := set("")
	if all < 40 {
		t.Fatalf("%d actions are visible", all)
	}
	var found string
	for name, filter := range map[string]struct {
		code string
		want int
	}{
		"text":   {`f.elements.text.value = "Keystone  DEPLOYMENT/"`, 1},
		"block":  {`f.elements.block.value = "service.mariadb"`, 5},
		"action": {`f.elements.todo.value = "to change"`, 5},
		"danger": {`f.elements.danger.checked = true`, 2},
		"both":   {`f.elements.block.value = "service.nova"; f.elements.danger.checked = true`, 1},
		"none":   {`f.elements.text.value = "no such text"`, 0},
	} {
		if n := set(filter.code); n != filter.want {
			t.Errorf("%s: %d actions are visible, want %d", name, n, filter.want)
		}
		b.eval(t, `document.querySelector("output").value`, &found)
		if want := fmt.Sprintf("%d of %d actions", filter.want, all); found != want {
			t.Errorf("%s: the page says %q, want %q", name, found, want)
		}
	}
	set("")
	var open int
	b.eval(t, `document.getElementsByName("open")[0].click(); document.querySelectorAll("details.action[open]").length`, &open)
	if open != all {
		t.Errorf("%d of %d actions are unfolded", open, all)
	}
	b.silent(t, "filters")
}

// keyboard checks that a box of the picture leads to the actions of its service, even if a filter
// hides them.
func keyboard(t *testing.T, b *browser) {
	b.open(t, "first.html")
	b.eval(t, `{ const f = document.getElementById("filter"); f.elements.text.value = "no such text"; f.dispatchEvent(new Event("input")); } document.querySelector("svg.wide a[href='#" + document.querySelector("[data-block='service.keystone']").id + "']").focus()`, nil)
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call(t, "Input.dispatchKeyEvent", map[string]any{"type": kind, "key": "Enter", "code": "Enter", "text": "\r", "windowsVirtualKeyCode": 13}, nil)
	}
	var there bool
	for range 50 {
		b.eval(t, `{ const s = document.querySelector("[data-block='service.keystone']"); const r = s.getBoundingClientRect(); location.hash === "#" + s.id && s.checkVisibility() && r.top >= 0 && r.top < innerHeight }`, &there)
		if there {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("Enter on the box of keystone does not lead to its actions")
}

// withoutScript checks a page in a browser that runs no scripts.
func withoutScript(t *testing.T, b *browser) {
	b.call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.call(t, "Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.open(t, "first.html")
	for selector, want := range map[string]bool{"#filter": false, "svg.wide": true, "svg.narrow": false, "details.action summary": true} {
		var document struct{ Root struct{ NodeID int } }
		b.call(t, "DOM.getDocument", nil, &document)
		var found struct{ NodeID int }
		b.call(t, "DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector}, &found)
		if err := b.try("DOM.getBoxModel", map[string]any{"nodeId": found.NodeID}, nil); (err == nil) != want || found.NodeID == 0 {
			t.Errorf("%s is visible: %v, want %v", selector, err == nil, want)
		}
	}
}

// policyHolds adds elements to a page like an injection would, and checks that the browser blocks
// them.
func policyHolds(t *testing.T, b *browser) {
	b.open(t, "first.html")
	b.requests = nil
	var violations []string
	b.eval(t, `new Promise((done) => {
		const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
		add("img", { src: "https://evil.example/x.png" });
		add("script", { textContent: "window.hacked = 1" });
		add("style", { textContent: "* { color: red }" });
		add("iframe", { src: "https://evil.example/" });
		fetch("https://evil.example/").catch(() => 0);
		setTimeout(() => done(window.hacked ? ["hacked"] : window.violations.map((v) => v.split(" ")[0]).sort()), 300);
	})`, &violations)
	if got, want := strings.Join(violations, " "), "connect-src frame-src img-src script-src-elem style-src-elem"; got != want {
		t.Errorf("the browser refuses %q, want %q", got, want)
	}
	b.eval(t, `window.violations.length = 0`, nil)
	b.requests = nil
}

// sizeable checks how long a page of 1,000 changed objects takes.
func sizeable(t *testing.T, b *browser) {
	page := webPage(thousand(), html.Options{})
	b.write(t, "thousand.html", page)
	b.open(t, "thousand.html")
	var ready, filtered float64
	b.eval(t, `performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd`, &ready)
	b.eval(t, `{ const f = document.getElementById("filter"); const began = performance.now(); f.elements.text.value = "svc042"; f.dispatchEvent(new Event("input")); document.body.offsetHeight; performance.now() - began }`, &filtered)
	t.Logf("%d bytes, usable after %.0f ms, the first filter takes %.0f ms", len(page), ready, filtered)
	if limit := 5000.0; ready > limit || filtered > limit {
		t.Errorf("the page takes longer than %.0f ms", limit)
	}
	b.pictures(t, "thousand")
	b.silent(t, "thousand")
}

// accessible checks pages with axe-core.
func accessible(t *testing.T, b *browser) {
	axe := string(axeCore.File(t, "axe.min.js"))
	for _, mode := range modes {
		b.call(t, "Emulation.setDeviceMetricsOverride", devices[mode.size], nil)
		b.prefer(t, mode.scheme)
		for _, page := range []string{"stack.html", "first.html", "losses.html", "replace.html", "policies.html", "diff.html", "drift.html"} {
			b.open(t, page)
			b.eval(t, `document.querySelectorAll("details").forEach((d) => (d.open = true)); `+axe+`; 0`, nil)
			var problems []struct {
				ID, Impact, Help string
				Nodes            []struct{ HTML, FailureSummary string }
			}
			b.eval(t, `axe.run().then((r) => r.violations)`, &problems)
			for _, p := range problems {
				t.Errorf("%s, %s, %s: %s (%s): %s, in %d places: %+v", page, mode.size, mode.scheme, p.ID, p.Impact, p.Help, len(p.Nodes), p.Nodes[0])
			}
		}
	}
}

// axeCore is the accessibility checker. It is not part of the project, because its licence differs
// from Apache's.
var axeCore = npmtest.Package{
	Name: "axe-core", Version: "4.14.1",
	Checksum: "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
}

// browser is a Chromium that takes commands of the DevTools protocol through a pipe.
type browser struct {
	in       *os.File
	out      *bufio.Reader
	dir, url string // of the pages
	session  string
	last     int // the ID of the last command
	loads    int // the number of loaded pages
	requests []string
}

// startBrowser starts a Chromium without network access. It skips the test if there is no Chromium.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute) // ends a test that would hang
	t.Cleanup(cancel)
	b := &browser{dir: t.TempDir()}
	arguments := []string{
		"--headless=new", "--no-first-run", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
		"--remote-debugging-pipe", "--user-data-dir=/tmp/browser", "about:blank",
	}
	cmd, url, err := chromium(ctx, b.dir, arguments)
	if err != nil {
		t.Skipf("NOT RUN: pages in a browser: %v", err)
	}
	b.url = url
	commands, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	cmd.ExtraFiles, cmd.Stderr = []*os.File{commands, out}, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the browser says:\n%s", log.String())
		}
	})
	must(errors.Join(commands.Close(), out.Close()))
	b.in, b.out = in, bufio.NewReaderSize(answers, 1<<20)
	var target struct{ TargetID string }
	b.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call(t, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	b.call(t, "Page.enable", nil, nil)
	b.call(t, "Network.enable", nil, nil)
	b.call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `window.violations = [];
		addEventListener("securitypolicyviolation", (e) => violations.push(e.effectiveDirective + " " + e.blockedURI + " " + e.sample));
		addEventListener("error", (e) => violations.push("error " + e.message));`}, nil)
	return b
}

// chromium returns the command that starts a Chromium, and the URL of a directory for it.
func chromium(ctx context.Context, dir string, arguments []string) (cmd *exec.Cmd, url string, err error) {
	program := os.Getenv(chromiumVariable)
	if program == "" {
		if program, err = exec.LookPath("chromium"); err != nil {
			return nil, "", fmt.Errorf("%w; %s may name a Chromium, or the root of a file system with one", err, chromiumVariable)
		}
	}
	if info, err := os.Stat(program); err != nil || !info.IsDir() {
		profile := filepath.Join(dir, "profile")
		return exec.CommandContext(ctx, program, append(arguments, "--user-data-dir="+profile)...), "file://" + dir, err
	}
	// Chromium runs in its own namespaces, which have no network and end with it.
	const furnish = `root=$1 pages=$2; shift 2; mount -t tmpfs tmpfs "$root/tmp" && mount --rbind /dev "$root/dev" &&
		mount -t proc proc "$root/proc" && mount --bind "$pages" "$root/mnt" && HOME=/tmp exec chroot "$root" /usr/bin/chromium "$@"`
	argv := append([]string{"--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", furnish, "sh", program, dir}, arguments...)
	return exec.CommandContext(ctx, "unshare", argv...), "file:///mnt", nil
}

// write adds a page.
func (b *browser) write(t *testing.T, name, page string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// open loads a page.
func (b *browser) open(t *testing.T, name string) {
	t.Helper()
	loads := b.loads
	b.call(t, "Page.navigate", map[string]any{"url": b.url + "/" + name}, nil)
	for b.loads == loads {
		if _, err := b.receive(); err != nil {
			t.Fatal(err)
		}
	}
}

// prefer sets the preferred colour scheme.
func (b *browser) prefer(t *testing.T, scheme string) {
	t.Helper()
	b.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// fits checks that the page is not wider than the screen.
func (b *browser) fits(t *testing.T, name, size string) {
	t.Helper()
	var broad []string
	b.eval(t, `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5)`, &broad)
	if len(broad) > 0 {
		t.Errorf("%s is broader than a %s: %q", name, size, broad)
	}
}

// silent checks that the pages sent no requests and violated no policy.
func (b *browser) silent(t *testing.T, name string) {
	t.Helper()
	var violations []string
	b.eval(t, `window.violations`, &violations)
	if len(violations) > 0 {
		t.Errorf("%s: the browser refuses %q", name, violations)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, b.url) && !strings.HasPrefix(url, "data:") { // a data URL sends no request
			t.Errorf("%s: a request for %s", name, url)
		}
	}
	b.requests = nil
}

// pictures saves screenshots to the directory in KOLLA_TEST_SCREENSHOTS.
func (b *browser) pictures(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("KOLLA_TEST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var shot struct{ Data []byte }
	b.call(t, "Page.captureScreenshot", map[string]any{"captureBeyondViewport": true, "clip": b.clip(t)}, &shot)
	if err := os.WriteFile(filepath.Join(dir, name+".png"), shot.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// clip is the upper part of the page.
func (b *browser) clip(t *testing.T) map[string]any {
	t.Helper()
	var size [2]int
	b.eval(t, `[innerWidth, Math.min(3000, document.documentElement.scrollHeight)]`, &size)
	return map[string]any{"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
}

// eval runs code in the page and decodes the result.
func (b *browser) eval(t *testing.T, code string, result any) {
	t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	b.call(t, "Runtime.evaluate", map[string]any{"expression": code, "returnByValue": true, "awaitPromise": true}, &answer)
	if e := answer.ExceptionDetails; e != nil {
		t.Fatalf("%.200s: %s", code, e.Exception.Description)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, result); err != nil {
		t.Fatalf("%.200s: %v in %s", code, err, answer.Result.Value)
	}
}

// call sends a command and decodes the result.
func (b *browser) call(t *testing.T, method string, params, result any) {
	t.Helper()
	if err := b.try(method, params, result); err != nil {
		t.Fatal(err)
	}
}

func (b *browser) try(method string, params, result any) error {
	b.last++
	command := map[string]any{"id": b.last, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		m, err := b.receive()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", method, err)
		case m.ID != b.last:
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
}

// message is an answer or an event of the browser.
type message struct {
	ID     int
	Method string
	Result json.RawMessage
	Error  *struct{ Message string }
	Params json.RawMessage
}

// receive reads a message and records events.
func (b *browser) receive() (message, error) {
	var m message
	text, err := b.out.ReadBytes(0)
	if err != nil {
		return m, fmt.Errorf("read from the browser: %w", err)
	}
	if err := json.Unmarshal(text[:len(text)-1], &m); err != nil {
		return m, fmt.Errorf("read from the browser: %w", err)
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loads++
	case "Network.requestWillBeSent":
		var sent struct{ Request struct{ URL string } }
		if err := json.Unmarshal(m.Params, &sent); err != nil {
			return m, fmt.Errorf("read from the browser: %w", err)
		}
		b.requests = append(b.requests, sent.Request.URL)
	}
	return m, nil
}
