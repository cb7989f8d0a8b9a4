"""Log in to Horizon with a browser, and find an image on its page of images.

python3 horizon.py URL IMAGE SCREENSHOT, with the password in OS_PASSWORD.
"""

import json
import os
import sys

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

LIMIT = 300  # seconds for a page
CHANGED = "net::ERR_NETWORK_CHANGED"


def broken(browser):
    """What the pages asked for and did not get."""
    asked = {}
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        params = message["params"]
        if message["method"] == "Network.requestWillBeSent":
            asked[params["requestId"]] = params["request"]["url"]
        elif message["method"] == "Network.responseReceived":
            response = params["response"]
            if response["status"] >= 400:
                yield f"{response['status']} {response['url']}"
        elif message["method"] == "Network.loadingFailed" and not params.get("canceled") and params["errorText"] != CHANGED:
            yield f"{params['errorText']} {asked.get(params['requestId'])}"


def opened(browser, url, ready):
    """Opens a page, and returns what ready finds there. The page is loaded again if an interface came or went meanwhile,
    such as that of a pod: the browser then breaks connections off."""
    for attempt in range(3):
        try:
            browser.get(url)
            return WebDriverWait(browser, LIMIT / 3).until(ready)
        except WebDriverException:
            print("the page was not loaded:", browser.find_element(By.TAG_NAME, "body").text[:200])
            if attempt == 2:
                raise


def main(url, image, screenshot):
    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-first-run", "disable-background-networking", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1400,900", "user-data-dir=/tmp/browser"):
        options.add_argument("--" + argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    wait = WebDriverWait(browser, LIMIT)
    failures = []
    try:
        browser.set_page_load_timeout(LIMIT)
        browser.get("about:blank")
        browser.get_log("performance")  # of the page that the browser starts with
        opened(browser, url, lambda b: b.find_element(By.NAME, "username")).send_keys("admin")
        browser.find_element(By.NAME, "password").send_keys(os.environ["OS_PASSWORD"])
        domain = browser.find_elements(By.NAME, "domain")
        if domain:
            domain[0].send_keys("Default")
        browser.find_element(By.ID, "loginBtn").click()
        wait.until(lambda b: "/auth/login" not in b.current_url)
        failures += broken(browser)
        opened(browser, url.rstrip("/") + "/project/images", lambda b: image in b.find_element(By.TAG_NAME, "body").text)
        failures += broken(browser)
    finally:
        browser.save_screenshot(screenshot)
        print(browser.current_url, browser.title)
        if sys.exc_info()[0]:
            print(browser.find_element(By.TAG_NAME, "body").text[:2000])
        browser.quit()
    if failures:
        sys.exit("not found: " + ", ".join(failures))


main(*sys.argv[1:])
